import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { parseGenesis, takeAccounts } from "../../params/genesis.ts";
import { changesOfAlloc } from "../../state/state-changes.ts";
import { encodeAlloc } from "./alloc-record.ts";
import { encodeChanges } from "./changes-record.ts";

const digits = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes) => `0x${Array.from(bytes, (byte) => (byte % 16).toString(16)).join("")}`);
const number = (bytes: number) =>
  fc.oneof(
    fc.constantFrom("0x0", "0x1", "0x7f", "0x80", "0xff", "0x100"),
    fc.integer({ min: 1, max: 2 * bytes }).chain(digits),
  );
const code = fc.oneof(
  fc.constantFrom("0x", "0x00", "0x6001"),
  fc.nat({ max: 300 }).map((length) => `0x${"5b".repeat(length)}`),
);
const account = fc.record(
  { balance: number(32), nonce: number(8), code, storage: fc.dictionary(digits(64), number(32), { maxKeys: 5 }) },
  { requiredKeys: ["balance"] },
);

test("accounts of a genesis file are encoded as the changes that make them", () => {
  fc.assert(
    fc.property(fc.dictionary(digits(40), account, { maxKeys: 6 }), (alloc) => {
      const text = JSON.stringify({ config: { chainId: 1 }, difficulty: "0x0", gasLimit: "0x1", alloc });
      assert.equal(takeAccounts(text) !== undefined, Object.keys(alloc).length > 0);
      const parsed = parseGenesis(text).alloc;
      const expected = encodeChanges(changesOfAlloc(new Map(parsed)));
      assert.deepEqual(Buffer.from(encodeAlloc(parsed)), Buffer.from(expected));
      assert.deepEqual(Buffer.from(encodeAlloc(new Map(parsed))), Buffer.from(expected));
    }),
    { numRuns: 300 },
  );
});
