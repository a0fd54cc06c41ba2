import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { PlainCallReader, recognisePlainCall } from "./plain-call.ts";

const BODY_BYTES_MAX = 40;

const aHeader = fc.constantFrom(
  ...["Host: localhost", "Host: other", "Content-Type: application/json", "content-type: text/plain"],
  ...["Connection: keep-alive", "Connection: close", "Accept: */*", "X-Other: 1"],
  `User-Agent: ${"a".repeat(600)}`,
);
/** Most are plain calls, many with equal heads; some have another length than their body. */
const aRequest = fc
  .record({
    headers: fc.oneof(
      { weight: 3, arbitrary: fc.constant(["Host: localhost", "Content-Type: application/json"]) },
      { weight: 1, arbitrary: fc.array(aHeader, { maxLength: 4 }) },
    ),
    body: fc.integer({ min: 0, max: 50 }).map((length) => "x".repeat(length)),
    extra: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 3 })),
    sign: fc.oneof({ weight: 5, arbitrary: fc.constant("") }, fc.constantFrom("0", "0000000000", "+", " ", "x")),
    unit: fc.oneof({ weight: 5, arbitrary: fc.constant("") }, fc.constantFrom(" ", "x", "\r")),
  })
  .map(({ headers, body, extra, sign, unit }) => {
    const lines = [...headers, `Content-Length: ${sign}${body.length + extra}${unit}`];
    return `POST / HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n${body}`;
  });

test("a reader that remembers heads reads every request as without memory", () => {
  fc.assert(
    fc.property(fc.array(aRequest, { minLength: 1, maxLength: 12 }), fc.nat(4), (requests, cut) => {
      const reader = new PlainCallReader(BODY_BYTES_MAX);
      const prefix = Buffer.from("\r\n".repeat(cut));
      for (const request of requests) {
        const bytes = Buffer.concat([prefix, Buffer.from(request)]);
        const whole = recognisePlainCall(bytes, prefix.length, BODY_BYTES_MAX);
        assert.deepEqual(reader.read(bytes, prefix.length), whole);
        const short = bytes.subarray(0, bytes.length - cut);
        assert.deepEqual(reader.read(short, prefix.length), recognisePlainCall(short, prefix.length, BODY_BYTES_MAX));
      }
    }),
  );
});
