import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createLogger } from "../../src/base/telemetry/create-logger.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { bearer, openWs, overHttp, overIpc, overWs, request } from "../support/clients.ts";
import { startConfiguredNode } from "../support/configured-node.ts";
import { sendHttp } from "../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

/** The attacks that emptied wallets and nodes elsewhere, each against a running node. */

const [alice] = DEV_ADDRESSES;
const SEND = request("eth_sendTransaction", [{ from: alice, to: DEV_ADDRESSES[2], value: "0x1" }]);

let node: TestNode;
before(async () => {
  node = await startConfiguredNode({
    settings: {
      "metrics.enable": "true",
      "metrics.address": "127.0.0.1:0",
    },
  });
  await overIpc(node.ipcPath, "personal_importRawKey", [DEV_KEYS[0], "secret"]);
  await overIpc(node.ipcPath, "personal_unlockAccount", [alice, "secret", 0]);
});
after(() => node.stop());

const metricsUrl = () => node.node.listeners.find(({ kind }) => kind === "metrics")!.url;

const nonce = async () => (await overHttp(node.url, "eth_getTransactionCount", [alice, "pending"])).result;

test("DNS rebinding: a page that points its own name at this machine gets 403, with a token too", async () => {
  const before = await nonce();
  for (const host of ["evil.example", "evil.example:8545", "localhost.evil.example"]) {
    const headers = { host, ...bearer(node.home) };
    for (const body of [SEND, request("personal_listAccounts")]) {
      assert.equal((await sendHttp(node.url, body, headers)).status, 403, host);
    }
    await assert.rejects(openWs(node.wsUrl, headers), /403/, host);
    await assert.rejects(openWs(node.url, headers), /403/, host);
  }
  assert.equal(await nonce(), before);
});

test("cross-site simple POST: a form, or text/plain without preflight, executes nothing", async () => {
  const before = await nonce();
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]) {
    const { status } = await sendHttp(node.url, SEND, { "content-type": type });
    assert.equal(status, 415, type);
  }
  for (const origin of ["https://evil.example", "null"]) {
    const { status } = await sendHttp(node.url, SEND, { origin });
    assert.equal(status, 403, origin);
    const preflight = await sendHttp(node.url, undefined, { origin }, "OPTIONS");
    assert.equal(preflight.headers["access-control-allow-origin"], undefined);
  }
  assert.equal(await nonce(), before);
});

test("cross-site WebSocket: an Origin that is not listed is refused at the upgrade, on both ports", async () => {
  for (const url of [node.wsUrl, node.url]) {
    for (const origin of ["https://evil.example", "null", "http://localhost.evil.example"]) {
      await assert.rejects(openWs(url, { origin }), /403/, origin);
    }
  }
});

test("a token in the URL is refused, be it good, on HTTP and at the upgrade", async () => {
  const token = bearer(node.home).authorization.slice("Bearer ".length);
  for (const query of [`?token=${token}`, `?access_token=${token}`, `?x=${token}`, `?jwt=x`]) {
    const { status, json } = await sendHttp(`${node.url}/${query}`, request("eth_chainId"));
    assert.deepEqual([status, json.error.code], [401, -32001], query);
    await assert.rejects(openWs(`${node.wsUrl}/${query}`), /401/);
  }
  // Fewer than the limit of bad tokens, so that the next test starts even.
  assert.equal((await overHttp(node.url, "miner_getHashrate", [], bearer(node.home))).result, 0);
});

test("bad tokens: after ten a minute more of the address are put off, good tokens and public calls go on", async () => {
  const guessed = await startConfiguredNode();
  try {
    const bad = { authorization: "Bearer a.b.c" };
    for (let i = 0; i < 10; i++) {
      assert.equal((await overHttp(guessed.url, "eth_chainId", [], bad)).status, 401);
    }
    const { status, headers, json } = await sendHttp(guessed.url, request("personal_listAccounts"), bad);
    assert.deepEqual([status, json.error.code, headers["retry-after"]], [429, -32005, "1"]);
    await assert.rejects(openWs(guessed.wsUrl, bad), /429/);
    assert.equal((await overHttp(guessed.url, "eth_chainId")).result, "0x2328");
    const good = await overHttp(guessed.url, "personal_listAccounts", [], bearer(guessed.home));
    assert.equal(good.status, 200);
    (await openWs(guessed.wsUrl, bearer(guessed.home))).close();
  } finally {
    await guessed.stop();
  }
});

test("unlock from afar: refused on every transport while one listener is not on loopback", async () => {
  const exposed = await startConfiguredNode({
    settings: { "json-rpc.ws-address": "0.0.0.0:0" },
  });
  try {
    await overIpc(exposed.ipcPath, "personal_importRawKey", [DEV_KEYS[0], "secret"]);
    const params = [alice, "secret"];
    const token = bearer(exposed.home);
    const wsUrl = exposed.wsUrl.replace("0.0.0.0", "127.0.0.1");
    for (const answer of [
      await overHttp(exposed.url, "personal_unlockAccount", params, token),
      await overWs(wsUrl, "personal_unlockAccount", params, token),
      await overIpc(exposed.ipcPath, "personal_unlockAccount", params),
    ]) {
      assert.equal(answer.error?.code, -32000);
      assert.match(answer.error?.message ?? "", /^account unlock with HTTP access is forbidden/);
    }
    const signed = await overHttp(exposed.url, "personal_sign", ["0x", ...params], token);
    assert.ok(signed.result);
  } finally {
    await exposed.stop();
  }
});

test("unlock from afar: possible with json-rpc.allow-insecure-unlock alone", async () => {
  const exposed = await startConfiguredNode({
    settings: { "json-rpc.ws-address": "0.0.0.0:0", "json-rpc.allow-insecure-unlock": "true" },
  });
  try {
    await overIpc(exposed.ipcPath, "personal_importRawKey", [DEV_KEYS[0], "secret"]);
    const { result } = await overIpc(exposed.ipcPath, "personal_unlockAccount", [alice, "secret"]);
    assert.equal(result, true);
  } finally {
    await exposed.stop();
  }
});

test("brute force: five wrong passphrases a minute and account, then -32005, the right one too", async () => {
  const created = (await overIpc(node.ipcPath, "personal_newAccount", ["right"])).result;
  const guess = (passphrase: string) =>
    overHttp(node.url, "personal_unlockAccount", [created, passphrase], bearer(node.home));
  const messages = new Set<string>();
  for (let i = 0; i < 5; i++) messages.add((await guess(`wrong ${i}`)).error?.message ?? "");
  assert.deepEqual([...messages], ["could not decrypt key with given password"]);
  for (let i = 0; i < 20; i++) assert.equal((await guess(`wrong ${i}`)).error?.code, -32005);
  assert.equal((await guess("right")).error?.code, -32005);

  const text = await (await fetch(metricsUrl())).text();
  assert.match(text, /^evmint_keys_wrong_secrets_total 5$/m);
  assert.match(text, /^evmint_keys_refused_tries_total 21$/m);
  assert.match(text, /^evmint_keys_unlocked 1$/m);
  // Those that came in URLs.
  assert.match(text, /^evmint_rpc_rejected_total\{transport="http",reason="token"\} 4$/m);
});

test("methods can be refused by name, over HTTP and WebSocket but not to this user", async () => {
  const narrow = await startConfiguredNode({
    settings: {
      "json-rpc.allow-methods": "eth_*,personal_*",
      "json-rpc.deny-methods": "eth_send*,personal_*",
    },
  });
  try {
    assert.equal((await overHttp(narrow.url, "eth_sendTransaction")).error?.code, -32601);
    const token = bearer(narrow.home);
    assert.equal((await overHttp(narrow.url, "personal_listAccounts", [], token)).error?.code, -32601);
    assert.equal((await overHttp(narrow.url, "eth_blockNumber")).result, "0x0");
    assert.equal((await overHttp(narrow.url, "net_version")).error?.code, -32601);
    assert.equal((await overWs(narrow.wsUrl, "eth_sendTransaction")).error?.code, -32601);
    assert.equal((await overWs(narrow.wsUrl, "net_version")).error?.code, -32601);
    assert.equal((await overWs(narrow.wsUrl, "eth_chainId")).result, "0x2328");
    assert.deepEqual((await overIpc(narrow.ipcPath, "personal_listAccounts")).result, []);
  } finally {
    await narrow.stop();
  }
});

test("a dev chain takes no token on loopback, and a bad one nowhere", async () => {
  const dev = await startTestNode({ dev: true });
  try {
    assert.equal((await overHttp(dev.url, "miner_getHashrate")).result, 0);
    const { status } = await overHttp(dev.url, "eth_chainId", [], { authorization: "Bearer x" });
    assert.equal(status, 401);
    assert.equal((await overHttp(dev.url, "miner_getHashrate", [], bearer(dev.home))).result, 0);
  } finally {
    await dev.stop();
  }
});

test("no key, passphrase or token ever reaches the log or an error", async () => {
  const lines: string[] = [];
  const log = createLogger({
    level: "trace",
    format: "json",
    color: false,
    write: (line) => void lines.push(line),
  });
  const logged = await startConfiguredNode({ log });
  const secrets = ["hunter2-passphrase", "hunter3-passphrase", DEV_KEYS[0].slice(2)];
  const answers: unknown[] = [];
  const call = async (method: string, ...params: unknown[]) => {
    const token = bearer(logged.home);
    secrets.push(token.authorization.slice(-43));
    const answer = await overHttp(logged.url, method, params, token);
    answers.push(answer.error);
    return answer.result;
  };
  const [good, wrong] = secrets as [string, string];
  try {
    await call("personal_importRawKey", DEV_KEYS[0], good);
    // Half a key, a key with a letter too many, and a key where its passphrase belongs.
    await call("personal_importRawKey", DEV_KEYS[0].slice(0, 60), good);
    await call("personal_importRawKey", `${DEV_KEYS[0]}0`, good);
    await call("personal_importRawKey", `${DEV_KEYS[0]}z`, good);
    await call("personal_unlockAccount", alice, wrong);
    await call("personal_unlockAccount", alice, good, "0x0 not a number");
    await call("personal_unlockAccount", alice, good, 1);
    await call("personal_sign", "0x00", alice, wrong);
    await call("personal_sendTransaction", { from: alice, to: alice }, wrong);
    await call("personal_sendTransaction", { from: alice, to: alice }, good);
    await call("personal_openWallet", "hd://main", good);
    await call("personal_openWallet", "hd://other", wrong);
    secrets.push((await call("personal_initializeWallet", "hd://fresh")) as string);
    await call("personal_unpair", "hd://fresh", wrong);
    await sendHttp(logged.url, request(`personal_${good}`, [wrong]), bearer(logged.home));
    await sendHttp(`${logged.url}/?token=${good}`, request("eth_chainId"));
    await sendHttp(logged.url, `{"passphrase":"${good}"`, bearer(logged.home));
  } finally {
    await logged.stop();
  }
  const written = lines.join("");
  assert.ok(lines.length > 0);
  for (const secret of secrets) {
    assert.ok(!written.includes(secret), `in the log: ${secret}`);
  }
  const told = JSON.stringify(answers);
  for (const secret of secrets) assert.ok(!told.includes(secret), `in an error: ${secret}`);
});
