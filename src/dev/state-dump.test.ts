import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { unpackDump } from "./state-dump.ts";

const ADDRESS = `0x${"11".repeat(20)}`;
const text = (account: unknown) => JSON.stringify({ accounts: { [ADDRESS]: account } });

const FAULT = { code: "DEV_CONTROL" };

test("unpackDump reads a dump, packed or plain", async () => {
  const json = text({ nonce: 3, balance: "0x5", code: "0x00", storage: { "0x1": "0x2" } });
  const slot = `0x${"1".padStart(64, "0")}`;
  const expected = { address: ADDRESS, nonce: 3n, balance: 5n, code: Uint8Array.of(0) };
  for (const bytes of [Buffer.from(json), gzipSync(json)]) {
    assert.deepEqual(await unpackDump(bytes), [{ ...expected, storage: new Map([[slot, 2n]]) }]);
  }
});

test("unpackDump stops at a dump that is larger than its limit once it is unpacked", async () => {
  const json = text({ balance: "0x5" });
  const bomb = gzipSync(Buffer.alloc(65 << 20, " "));
  assert.ok(bomb.length < 100_000);
  await assert.rejects(unpackDump(bomb), FAULT);
  for (const bytes of [Buffer.from(json), gzipSync(json)]) {
    assert.equal((await unpackDump(bytes, json.length + 100)).length, 1);
    await assert.rejects(unpackDump(bytes, json.length - 1), FAULT);
  }
});

test("unpackDump refuses numbers that no account and no slot can have", async () => {
  const word = `0x1${"0".repeat(64)}`;
  for (const account of [
    { balance: word },
    { balance: "-1" },
    { nonce: -1 },
    { nonce: 1.5 },
    { nonce: 2 ** 64 },
    { storage: { [word]: "0x1" } },
    { storage: { "0x1": word } },
    { storage: { "-1": "0x1" } },
    { code: "0x0" },
    { code: 1 },
    null,
    5,
  ]) {
    await assert.rejects(unpackDump(Buffer.from(text(account))), FAULT, JSON.stringify(account));
  }
});
