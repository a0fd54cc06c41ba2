import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { hashMessage, verifyMessage } from "ethers";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { ManualTimers } from "../support/base/telemetry/manual-timers.ts";
import { bearer, overHttp } from "../support/clients.ts";
import { startConfiguredNode } from "../support/configured-node.ts";
import type { TestNode } from "../support/test-node.ts";

const [alice, , carol] = DEV_ADDRESSES;
const LOCKED = "authentication needed: password or unlock";

const timers = new ManualTimers();
let node: TestNode;
before(async () => {
  node = await startConfiguredNode({ hooks: { timers } });
});
after(() => node.stop());

/** With a good token. */
const call = (method: string, params: readonly unknown[] = []) => overHttp(node.url, method, params, bearer(node.home));

/** As a stranger: the methods of other namespaces are not private. */
const callOpenly = (method: string, params: readonly unknown[] = []) => overHttp(node.url, method, params);

test("over HTTP an account goes through every state of the service's table", async () => {
  const imported = await call("personal_importRawKey", [DEV_KEYS[0].slice(2), "secret"]);
  assert.equal(imported.result, alice.toLowerCase());
  assert.deepEqual((await callOpenly("eth_accounts")).result, [alice.toLowerCase()]);
  assert.deepEqual((await call("personal_listAccounts")).result, [alice.toLowerCase()]);

  const sign = () => callOpenly("eth_sign", [alice, "0xdeadbeef"]);
  const send = (value = "0x1") => callOpenly("eth_sendTransaction", [{ from: alice, to: carol, value }]);
  assert.deepEqual((await sign()).error, { code: -32000, message: LOCKED });
  assert.deepEqual((await send()).error, { code: -32000, message: LOCKED });

  const wrong = await call("personal_unlockAccount", [alice, "wrong"]);
  assert.deepEqual(wrong.error, {
    code: -32000,
    message: "could not decrypt key with given password",
  });
  assert.equal((await sign()).error?.message, LOCKED);

  assert.equal((await call("personal_unlockAccount", [alice, "secret", 300])).result, true);
  const signature = (await sign()).result as string;
  assert.equal(verifyMessage(Uint8Array.of(0xde, 0xad, 0xbe, 0xef), signature), alice);
  const hash = (await send()).result as string;
  assert.match(hash, /^0x[0-9a-f]{64}$/);

  assert.equal((await call("personal_lockAccount", [alice])).result, true);
  assert.equal((await sign()).error?.message, LOCKED);
  assert.equal((await send()).error?.message, LOCKED);

  const request = { from: alice, to: carol, value: "0x2" };
  const sent = await call("personal_sendTransaction", [request, "secret"]);
  assert.match(sent.result as string, /^0x[0-9a-f]{64}$/);
  assert.equal((await send()).error?.message, LOCKED);
  const refused = await call("personal_sendTransaction", [request, "wrong"]);
  assert.equal(refused.error?.message, "could not decrypt key with given password");

  // A duration in seconds, and one that does not end.
  assert.equal((await call("personal_unlockAccount", [alice, "secret", 1])).result, true);
  assert.ok((await sign()).result);
  await timers.advance(1_000);
  assert.equal((await sign()).error?.message, LOCKED);
  assert.equal((await call("personal_unlockAccount", [alice, "secret", 0])).result, true);
  assert.equal((await call("personal_unlockAccount", [alice, "secret", 1])).result, true);
  await timers.advance(1_000);
  assert.ok((await sign()).result);
  await call("personal_lockAccount", [alice]);
});

test("personal_sign and personal_ecRecover go round, and agree with ethers' verifyMessage", async () => {
  const created = (await call("personal_newAccount", ["pw"])).result as string;
  // EIP-55, as geth has it.
  assert.match(created, /[A-F]/);
  const message = "0x48656c6c6f";
  const signed = await call("personal_sign", [message, created, "pw"]);
  const signature = signed.result as string;
  assert.ok(["1b", "1c"].includes(signature.slice(-2)));
  assert.equal(verifyMessage("Hello", signature), created);
  // As a contract sees it: ecrecover(digest, v, r, s).
  const input = `${hashMessage("Hello")}${signature.slice(-2).padStart(64, "0")}${signature.slice(2, 130)}`;
  const precompile = "0x0000000000000000000000000000000000000001";
  const seen = await callOpenly("eth_call", [{ to: precompile, input }, "latest"]);
  assert.equal((seen.result as string).slice(26), created.slice(2).toLowerCase());
  const recovered = await call("personal_ecRecover", [message, signature]);
  assert.equal(recovered.result, created.toLowerCase());
  assert.equal((await call("personal_sign", [message, created])).error?.message, LOCKED);
});

test("personal_ecRecover and personal_importRawKey refuse with geth's words", async () => {
  for (const [signature, message] of [
    ["0x00", "signature must be 65 bytes long"],
    [`0x${"11".repeat(64)}00`, "invalid Ethereum signature (V is not 27 or 28)"],
  ]) {
    assert.equal((await call("personal_ecRecover", ["0x", signature])).error?.message, message);
  }
  for (const [key, message] of [
    ["xx", 'invalid hex character "x" in private key'],
    ["abcd", "invalid length, need 256 bits"],
  ]) {
    const { error } = await call("personal_importRawKey", [key, "pw"]);
    assert.deepEqual(error, { code: -32602, message });
  }
  const again = await call("personal_importRawKey", [DEV_KEYS[0], "pw"]);
  assert.equal(again.error?.message, "account already exists");
});

test("personal_signTransaction signs what eth_sendRawTransaction takes, and makes nothing up", async () => {
  const nonce = (await callOpenly("eth_getTransactionCount", [alice, "pending"])).result;
  const request = { from: alice, to: carol, gas: "0x5208", gasPrice: "0x77359400", nonce };
  const signed = await call("personal_signTransaction", [request, "secret"]);
  const { raw, tx } = signed.result as { raw: string; tx: { hash: string } };
  assert.equal((await callOpenly("eth_sendRawTransaction", [raw])).result, tx.hash);
  const { from: _from, ...anonymous } = request;
  const { error } = await call("personal_signTransaction", [anonymous, "secret"]);
  assert.equal(error?.message, "sender not specified");
  const { gas: _gas, ...open } = request;
  assert.equal((await call("personal_signTransaction", [open, "secret"])).error?.message, "gas not specified");
});

test("concurrent sends by passphrase take one nonce each", async () => {
  const request = { from: alice, to: carol, value: "0x1" };
  const sends = await Promise.all([1, 2, 3, 4].map(() => call("personal_sendTransaction", [request, "secret"])));
  assert.equal(new Set(sends.map(({ result }) => result)).size, 4);
});
