import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { readJwtSecret } from "../../src/node/config/secrets.ts";
import { METHODS } from "../../src/rpc/methods/methods.ts";
import { namespaceOf } from "../../src/rpc/transport/dispatch/method.ts";
import { type Answer, bearer, openWs, overHttp, overIpc, overWs } from "../support/clients.ts";
import { startConfiguredNode } from "../support/configured-node.ts";
import type { TestNode } from "../support/test-node.ts";

const PRIVATE = METHODS.filter(({ isPrivate }) => isPrivate).map(({ name }) => name);

/** No method takes so many, so that a call which got in is refused before it does anything. */
const TOO_MANY = Array.from({ length: 32 }, () => null);

let node: TestNode;
before(async () => {
  node = await startConfiguredNode({ limits: { tokens: { badTokensMax: 1_000_000 } } });
});
after(() => node.stop());

test("personal, miner and admin are there to be tried", () => {
  assert.ok(PRIVATE.length >= 35, `${PRIVATE.length}`);
});

/** The credentials of the matrix: what each sends, and whether it opens `namespace`. */
function credentials(namespace: string): [string, Record<string, string>, "in" | "out" | "bad"][] {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const good = bearer(node.home).authorization;
  const none = `${part({ alg: "none", typ: "JWT" })}.${part({ iat: now })}`;
  const hs384 = `${part({ alg: "HS384" })}.${part({ iat: now })}`;
  const mac384 = createHmac("sha384", readJwtSecret(node.home)).update(hs384).digest("base64url");
  const flipped = good.at(-5) === "A" ? "B" : "A";
  const bad = good.slice(0, -5) + flipped + good.slice(-4);
  return [
    ["no token", {}, "out"],
    ["bad signature", { authorization: bad }, "bad"],
    ["alg none", { authorization: `Bearer ${none}.` }, "bad"],
    ["alg none, signed", { authorization: `Bearer ${none}.${mac384}` }, "bad"],
    ["HS384", { authorization: `Bearer ${hs384}.${mac384}` }, "bad"],
    ["expired", bearer(node.home, { iat: now - 100, exp: now - 1 }), "bad"],
    ["stale", bearer(node.home, { iat: now - 62 }), "bad"],
    ["10 KB", { authorization: `Bearer ${"a".repeat(10_240)}` }, "bad"],
    ["wrong namespace", bearer(node.home, { namespaces: [`not${namespace}`] }), "out"],
    ["no namespace", bearer(node.home, { namespaces: [] }), "out"],
    ["right namespace", bearer(node.home, { namespaces: [namespace] }), "in"],
    ["long-lived", bearer(node.home, { exp: now + 1000, iat: now - 9999 }), "in"],
    ["good", { authorization: good }, "in"],
  ];
}

const isIn = ({ error }: Answer) => error?.code === -32602;
const isOut = ({ error }: Answer) => error?.code === -32001;

for (const name of PRIVATE) {
  test(`${name} answers to a good token or on IPC, and to nothing else`, async () => {
    for (const [label, headers, outcome] of credentials(namespaceOf(name))) {
      const http = await overHttp(node.url, name, TOO_MANY, headers);
      assert.deepEqual(
        [http.status, http.error?.code],
        outcome === "in" ? [200, -32602] : [401, -32001],
        `HTTP, ${label}`,
      );
      if (outcome === "bad") {
        await assert.rejects(openWs(node.wsUrl, headers), /401/, `WS, ${label}`);
        continue;
      }
      const ws = await overWs(node.wsUrl, name, TOO_MANY, headers);
      assert.ok(outcome === "in" ? isIn(ws) : isOut(ws), `WS, ${label}: ${ws.error?.message}`);
    }
    assert.ok(isIn(await overIpc(node.ipcPath, name, TOO_MANY)), "IPC");
  });
}

test("a public method answers to no token, and not to a bad one", async () => {
  assert.equal((await overHttp(node.url, "eth_chainId")).result, "0x2328");
  const bad = await overHttp(node.url, "eth_chainId", [], { authorization: "Bearer x" });
  assert.deepEqual([bad.status, bad.error?.code], [401, -32001]);
  assert.match(bad.error?.message ?? "", /Authorization: Bearer.*IPC socket/);
});

test("a WebSocket opened with a token loses its private methods when the token expires", async (t) => {
  const exp = Math.floor(Date.now() / 1000) + 600;
  const ws = await openWs(node.wsUrl, bearer(node.home, { exp }));
  const call = () =>
    new Promise<Answer>((resolve) => {
      ws.once("message", (message) => resolve(JSON.parse(message.toString())));
      ws.send('{"jsonrpc":"2.0","id":1,"method":"miner_getHashrate"}');
    });
  assert.equal((await call()).result, 0);
  t.mock.timers.enable({ apis: ["Date"], now: exp * 1000 });
  assert.equal((await call()).error?.code, -32001);
  ws.close();
});

test("in a batch an unauthorized call is its own error, and the HTTP status is 200", async () => {
  const { sendHttp } = await import("../support/rpc/rpc-client.ts");
  const calls = ["eth_chainId", "personal_listAccounts"].map((method, id) => ({
    jsonrpc: "2.0",
    id,
    method,
    params: [],
  }));
  const { status, json } = await sendHttp(node.url, JSON.stringify(calls));
  assert.equal(status, 200);
  assert.equal(json[0].result, "0x2328");
  assert.equal(json[1].error.code, -32001);
  assert.match(json[1].error.message, /Authorization: Bearer.*IPC/);
});
