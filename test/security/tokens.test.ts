import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { readJwtSecret } from "../../src/node/config/secrets.ts";
import { revokeTokens, rotateTokenSecret } from "../../src/node/config/token-file.ts";
import { type JwtClaims, signJwt } from "../../src/rpc/transport/auth/jwt.ts";
import { openWs, request } from "../support/clients.ts";
import { startConfiguredNode } from "../support/configured-node.ts";
import type { TestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";

const home = mkdtempSync(join(tmpdir(), "evmint-tokens-"));
let node: TestNode;
before(async () => {
  node = await startConfiguredNode({
    home,
    settings: { "json-rpc.require-token": "true", "json-rpc.api": "all" },
    // The tests ask with a token that is not good yet until it is.
    limits: { tokens: { badTokensMax: 1_000_000 } },
  });
});
after(async () => {
  await node.stop();
  rmSync(home, { recursive: true, force: true });
});

const now = () => Date.now() / 1_000;

function tokenOf(claims: JwtClaims): string {
  return signJwt({ exp: Math.ceil(now()) + 600, ...claims }, readJwtSecret(home));
}

async function status(method: string, token?: string): Promise<number> {
  const headers = {
    "content-type": "application/json",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  return (await fetch(node.url, { method: "POST", headers, body: request(method) })).status;
}

/** Resolves once the node answers `token` with `expected`: it reads its token files again when a request comes. */
async function untilStatus(expected: number, token: string): Promise<void> {
  await until(async () => (await status("eth_chainId", token)) === expected, `status ${expected}`);
}

test("with json-rpc.require-token no method is answered without a token that opens it", async () => {
  assert.equal(await status("eth_chainId"), 401);
  assert.equal(await status("eth_chainId", tokenOf({})), 200);
  const narrow = tokenOf({ methods: ["eth_block*", "txpool_status"] });
  assert.equal(await status("eth_blockNumber", narrow), 200);
  assert.equal(await status("txpool_status", narrow), 200);
  assert.equal(await status("eth_chainId", narrow), 401);
  assert.equal(await status("miner_start", narrow), 401);
});

/** A WebSocket with a subscription. */
async function subscribed(token: string) {
  const ws = await openWs(node.wsUrl, { authorization: `Bearer ${token}` });
  const closed = new Promise<number>((resolve) => ws.once("close", resolve));
  const answer = new Promise<string>((resolve) => ws.once("message", (message) => resolve(message.toString())));
  ws.send(request("eth_subscribe", ["newHeads"]));
  assert.match(JSON.parse(await answer).result, /^0x/);
  return { ws, closed };
}

test("a revoked token opens nothing any more, and a WebSocket that has it is closed with its subscriptions", async () => {
  const token = tokenOf({ jti: "00112233aabbccdd", sub: "team" });
  const other = tokenOf({ sub: "others" });
  const { closed } = await subscribed(token);
  const { ws } = await subscribed(other);
  revokeTokens(home, { kind: "id", name: "00112233aabbccdd" }, now());
  await untilStatus(401, token);
  assert.equal(await closed, 1008);
  assert.equal(ws.readyState, WebSocket.OPEN);
  ws.terminate();
  assert.equal(await status("eth_chainId", other), 200);
  revokeTokens(home, { kind: "subject", name: "others" }, now());
  await untilStatus(401, other);
});

test("a new secret leaves older tokens good for its grace, and no longer", async () => {
  const old = tokenOf({});
  const { ws, closed } = await subscribed(old);
  rotateTokenSecret(home, { graceSeconds: 60 }, now());
  await untilStatus(200, tokenOf({}));
  assert.equal(await status("eth_chainId", old), 200);
  assert.equal(ws.readyState, WebSocket.OPEN);
  rotateTokenSecret(home, { graceSeconds: 0 }, now());
  await untilStatus(200, tokenOf({}));
  await untilStatus(401, old);
  assert.equal(await closed, 1008);
});
