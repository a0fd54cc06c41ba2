import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { overHttp } from "../../support/clients.ts";
import { metricOf, WITH_METRICS } from "../../support/metrics.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";

/* Three nodes in a line: the first and the third know only the second. */

const homes = Array.from({ length: 3 }, () => mkdtempSync(join(tmpdir(), "evmint-shh-")));
const nodes: TestNode[] = [];

const start = (home: string, settings: Readonly<Record<string, string>> = {}) =>
  startTestNode({
    dev: true,
    home,
    settings: { "shh.address": "127.0.0.1:0", ...WITH_METRICS, ...settings },
  });

async function call<T = string>(node: TestNode, method: string, ...params: unknown[]): Promise<T> {
  const { result, error } = await overHttp(node.url, method, params);
  assert.equal(error, undefined, `${method}: ${error?.message}`);
  return result as T;
}

type NodeInfo = { protocols: { shh: { addresses: string[]; peers: string[] } } };
const shhOf = async (node: TestNode) => (await call<NodeInfo>(node, "admin_nodeInfo")).protocols.shh;

/** Asks again until the answer is good: a message takes as long as it takes. */
async function eventually<T>(ask: () => Promise<T>, isGood: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isGood(answer)) return answer;
  }
}

before(async () => {
  nodes[1] = await start(homes[1]!);
  const { addresses } = await shhOf(nodes[1]);
  nodes[0] = await start(homes[0]!, { "shh.peers": addresses[0]! });
  nodes[2] = await start(homes[2]!);
  assert.equal(await call(nodes[2], "admin_addPeer", addresses[0]), true);
  await eventually(
    () => shhOf(nodes[1]!),
    ({ peers }) => peers.length === 2,
  );
});
after(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

type Message = Readonly<Record<string, string>> & { readonly topics: string[] };

const TOPIC = "0x68656c6c6f20776f726c64";
const post = { topics: [TOPIC], payload: "0x6869", ttl: "0x64", priority: "0x0" };

test("a message posted on the first is read on the third, once, and expires everywhere", async () => {
  const ids = await Promise.all(nodes.map((node) => call(node, "shh_newFilter", { topics: [TOPIC] })));
  assert.equal(await call(nodes[0]!, "shh_post", { ...post, ttl: "0x8" }), true);
  const arrived = (index: number) =>
    eventually(
      () => call<Message[]>(nodes[index]!, "shh_getFilterChanges", ids[index]),
      ({ length }) => length > 0,
    );
  const [message, ...more] = await arrived(2);
  assert.equal(more.length, 0);
  assert.deepEqual([message!["from"], message!["to"]], ["0x", "0x"]);
  assert.deepEqual(message!.topics, ["0x47173285"]);
  assert.equal(message!["payload"], "0x6869");
  assert.equal(Number(message!["expiry"]) - Number(message!["ttl"]), Number(message!["sent"]));
  assert.match(message!["workProved"]!, /^0x[0-9a-f]+$/);
  assert.deepEqual(await arrived(1), [message]);
  for (const [index, node] of nodes.entries()) {
    await eventually(
      () => call<Message[]>(node, "shh_getMessages", ids[index]),
      ({ length }) => length === 0,
    );
    assert.deepEqual(await call<Message[]>(node, "shh_getFilterChanges", ids[index]), []);
    await eventually(
      () => metricOf(node, "shh_envelopes", ""),
      (count) => count === 0,
    );
  }
});

test("a group over three nodes: members read what is sent to it, and a restart forgets no key", async () => {
  const members = await Promise.all([1, 2].map((index) => call(nodes[index]!, "shh_newIdentity")));
  const group = await call(nodes[0]!, "shh_newGroup", null, [members[0]]);
  assert.match(group, /^0x04[0-9a-f]{128}$/);
  const hasGroup = (index: number) => eventually(() => call<boolean>(nodes[index]!, "shh_hasIdentity", group), Boolean);
  await hasGroup(1);
  assert.equal(await call<boolean>(nodes[2]!, "shh_hasIdentity", group), false);
  assert.equal(await call<boolean>(nodes[0]!, "shh_addToGroup", members[1]), true);
  await hasGroup(2);
  assert.equal(await call<boolean>(nodes[0]!, "shh_addToGroup", group, "0x1234"), false);

  const id = await call(nodes[2]!, "shh_newFilter", { to: group });
  await call(nodes[1]!, "shh_post", { ...post, to: group, from: members[0] });
  const [message] = await eventually(
    () => call<Message[]>(nodes[2]!, "shh_getFilterChanges", id),
    ({ length }) => length > 0,
  );
  assert.deepEqual([message!["from"], message!["to"]], [members[0], group]);

  await nodes[2]!.stop();
  nodes[2] = await start(homes[2]!);
  assert.equal(await call<boolean>(nodes[2], "shh_hasIdentity", members[1]), true);
  assert.equal(await call<boolean>(nodes[2], "shh_hasIdentity", group), true);
  // admin_addPeer wrote the address into app.toml.
  await eventually(
    () => shhOf(nodes[2]!),
    ({ peers }) => peers.length === 1,
  );
});

test("work is done in another thread and is proven", async () => {
  const id = await call(nodes[0]!, "shh_newFilter", {});
  assert.equal(await call(nodes[0]!, "shh_post", { ...post, priority: 100 }), true);
  const [message] = await call<Message[]>(nodes[0]!, "shh_getFilterChanges", id);
  assert.ok(Number(message!["workProved"]) >= 8);
});

test("bad input is rejected", async () => {
  const identity = `0x04${"11".repeat(64)}`;
  for (const [method, params, code] of [
    ["shh_post", [{ from: identity }], -32000],
    ["shh_post", [{ ...post, to: identity }], -32602],
    ["shh_post", [{ ...post, to: "0x12" }], -32602],
    ["shh_post", [{ ...post, ttl: -1 }], -32602],
    ["shh_post", [{ ...post, topics: [5] }], -32602],
    ["shh_post", [{ ...post, payload: `0x${"00".repeat((64 << 10) + 1)}` }], -32005],
    ["shh_post", [[]], -32602],
    ["shh_post", [], -32602],
    ["shh_hasIdentity", ["0x11"], -32602],
    ["shh_newFilter", [{ to: 5 }], -32602],
    ["shh_newFilter", [{ topics: "0x12" }], -32602],
    ["shh_newFilter", [{ topics: [5] }], -32602],
    ["shh_newFilter", [{ topics: [[5]] }], -32602],
    ["admin_addPeer", ["/ip4/127.0.0.1"], -32000],
  ] as const) {
    const { error } = await overHttp(nodes[0]!.url, method, params);
    assert.equal(error?.code, code, `${method} ${JSON.stringify(params).slice(0, 80)}: ${error?.message}`);
  }
  for (const [filter, text] of [
    [{ to: 5 }, "to is not a string"],
    [{ topics: 5 }, "topics is not an array"],
    [{ topics: [5] }, "topic[0] not a string or array"],
  ] as const) {
    const { error } = await overHttp(nodes[0]!.url, "shh_newFilter", [filter]);
    assert.equal(error?.message, `invalid argument 0: ${text}`);
  }
  assert.equal(await call<string>(nodes[0]!, "shh_version"), "2");
  assert.equal(await call<boolean>(nodes[0]!, "shh_uninstallFilter", "0x1"), false);
  assert.deepEqual(await call<Message[]>(nodes[0]!, "shh_getFilterChanges", "0x1"), []);
  assert.deepEqual(await call<Message[]>(nodes[0]!, "shh_getMessages", "0x1"), []);
});
