import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRemoteUrl } from "./remote-url.ts";

const SECRET = "p%40ss";

test("user and password become a header and are in no text", () => {
  const remote = parseRemoteUrl(`https://me:${SECRET}@node.example:8545/v3/KEY?q=1#x`, ["https"])!;
  assert.deepEqual(remote, {
    url: "https://node.example:8545/v3/KEY?q=1",
    headers: { authorization: `Basic ${Buffer.from("me:p@ss").toString("base64")}` },
    origin: "https://node.example:8545",
  });
});

test("a URL without user has no header, and WebSocket URLs an origin", () => {
  const { headers, origin } = parseRemoteUrl("ws://[::1]:8546/", ["ws", "wss"])!;
  assert.deepEqual([headers, origin], [{}, "ws://[::1]:8546"]);
});

test("parseRemoteUrl returns undefined for other schemes and accepts a stray %", () => {
  for (const text of ["", "localhost:8545", "file:///etc/passwd", "javascript:1", "http://"]) {
    assert.equal(parseRemoteUrl(text, ["http", "https"]), undefined, text);
  }
  assert.match(parseRemoteUrl("http://a:50%@b", ["http"])!.headers["authorization"]!, /^Basic /);
});
