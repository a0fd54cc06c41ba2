import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { ForkHashes } from "../../base/params/fork-id.ts";
import { parseGenesis } from "../../base/params/genesis.ts";
import type { Address } from "../../base/primitives/address.ts";
import { genesisBlock } from "../../chain/genesis-block.ts";
import { encodeProposerData } from "../../consensus/consensus-data.ts";
import { renderGenesis } from "../../node/config/genesis/genesis.ts";
import { RpcResponseError } from "../console/connection.ts";
import type { ClockDifference } from "./ask.ts";
import { type AskedNode, askPeer, differenceOf } from "./ask.ts";
import { ageFinding, enginePeersFindings, ownNodeFindings } from "./node-checks.ts";
import { viewNode } from "./node-view.ts";
import { namedForksFinding, type OwnChain, rulesOf, scheduleOfRules } from "./own-chain.ts";
import { type Own, peerFindings } from "./peer-checks.ts";

const text = renderGenesis({ chainId: 9000n, timestamp: 1_700_000_000, alloc: new Map() });
const genesis = parseGenesis(text);
const { block } = genesisBlock(genesis);
const CHAIN: OwnChain = { config: genesis.config, genesisHash: block.hash, genesisTime: 1_700_000_000 };
const hashOf = (number: number) => (number === 0 ? block.hash : `0x${number.toString(16).padStart(64, "a")}`);
const SCHEDULE = scheduleOfRules(CHAIN, CHAIN.config, 1_800_000_000)!;

type Answers = Readonly<Record<string, unknown>>;

/** The answers of a node at block 100, whose methods `changes` answers otherwise; a function gets the parameters. */
function nodeWith(changes: Answers = {}, clock?: ClockDifference): AskedNode {
  const answers: Answers = {
    web3_clientVersion: "Evmint/v1.2.3/linux-x64/node24.0.0",
    eth_chainId: "0x2328",
    eth_config: { current: { activationTime: SCHEDULE.lastTime, forkId: SCHEDULE.forkId }, next: null, last: null },
    eth_getBlockByNumber: ([tag]: [string]) => blockAnswer(tag === "latest" ? 100 : Number(tag)),
    clique_parameters: { agreed: { gasLimit: 45_000_000 } },
    ...changes,
  };
  return {
    name: "http://peer",
    async ask(method, params = []) {
      const answer = answers[method];
      if (answer === undefined) throw new RpcResponseError({ code: -32601, message: `no ${method}` });
      return typeof answer === "function" ? answer(params) : answer;
    },
    clock: () => clock,
    close() {},
  };
}

function blockAnswer(number: number, hash: string = hashOf(number)) {
  return { number: `0x${number.toString(16)}`, hash, timestamp: `0x${(1_700_000_000 + number).toString(16)}` };
}

const asked = nodeWith();
const own: Own = { chain: CHAIN, rules: CHAIN.config, node: { asked, view: await viewNode(asked) } };

/** `level subject` of each finding. */
async function found(changes: Answers, clock?: ClockDifference): Promise<string[]> {
  return (await peerFindings(own, nodeWith(changes, clock))).map(({ level, subject }) => `${level} ${subject}`);
}

const atBlock = (head: number, changed?: number) => ({
  eth_getBlockByNumber: ([tag]: [string]) => {
    const number = tag === "latest" ? head : Number(tag);
    return blockAnswer(number, number === changed ? `0x${"ee".repeat(32)}` : undefined);
  },
});

test("a node of the same chain, version and clock is well, whether it shows what is agreed or not", async () => {
  assert.deepEqual(await found({}, { ms: 900, uncertaintyMs: 500 }), ["ok peer"]);
  assert.deepEqual(await found({ clique_parameters: undefined }), ["ok peer"]);
  assert.deepEqual(await found(atBlock(110)), ["ok peer"]);
});

test("another chain id, block 0, fork schedule, block or agreement of a peer is a fault", async () => {
  const other = { current: { activationTime: 1_750_000_000, forkId: "0x01020304" }, next: null, last: null };
  for (const changes of [
    { eth_chainId: "0x1" },
    atBlock(100, 0),
    { eth_config: other },
    { eth_config: { current: null, next: null, last: null } },
    atBlock(100, 100),
    // The newest block that both have.
    atBlock(90, 90),
    { clique_parameters: { agreed: {} } },
    { clique_parameters: { agreed: { gasLimit: 45_000_000, osakaTime: 1_800_000_000 } } },
  ]) {
    assert.ok((await found(changes)).includes("fault peer"), JSON.stringify(changes));
  }
  // What is agreed later than the common block says nothing.
  assert.deepEqual(await found({ ...atBlock(110), clique_parameters: ([at]: [string]) => agreedUntil(Number(at)) }), [
    "ok peer",
  ]);
});

function agreedUntil(number: number) {
  return { agreed: number > 100 ? {} : { gasLimit: 45_000_000 } };
}

test("another version, a head far away and another clock are warnings", async () => {
  assert.deepEqual(await found({ web3_clientVersion: "Evmint/v1.3.0/linux-x64/node24.0.0" }), ["warning peer"]);
  assert.deepEqual(await found({ web3_clientVersion: "Evmint/v1.2.3/darwin-arm64/node26.0.0" }), ["ok peer"]);
  assert.deepEqual(await found(atBlock(200)), ["warning peer"]);
  assert.deepEqual(await found(atBlock(20)), ["warning peer"]);
  assert.deepEqual(await found({}, { ms: -5_000, uncertaintyMs: 600 }), ["warning clock"]);
});

test("answers of another form are a warning, never a comparison", async () => {
  for (const changes of [
    { web3_clientVersion: 1 },
    { web3_clientVersion: "x".repeat(1_000) },
    { eth_chainId: 9000 },
    { eth_chainId: "0x02328" },
    { eth_config: [] },
    { eth_config: { current: { activationTime: "0", forkId: SCHEDULE.forkId } } },
    { eth_config: { current: { activationTime: 0, forkId: "0x1" } } },
    { eth_getBlockByNumber: null },
    // A block that was not asked for.
    { eth_getBlockByNumber: blockAnswer(100) },
    { clique_parameters: { agreed: { gasLimit: "0x1" } } },
    { clique_parameters: [] },
  ]) {
    assert.deepEqual(await found(changes), ["warning peer"], JSON.stringify(changes));
  }
});

test("a fork that was agreed by vote after the block of a home is no fault, and another schedule beside the vote is one", async () => {
  const agreed = { gasLimit: 45_000_000, bpo1Time: 1_750_000_000 };
  const rules = rulesOf(CHAIN, new Map(Object.entries(agreed).map(([name, value]) => [name, BigInt(value)])));
  const { forkId, lastTime } = scheduleOfRules(CHAIN, rules, 1_700_000_110)!;
  const changes = (config: object) => ({
    ...atBlock(110),
    eth_config: { current: null, next: config, last: null },
    clique_parameters: ([at]: [string]) => (Number(at) > 100 ? { agreed } : agreedUntil(100)),
  });
  const files: Own = { chain: CHAIN, rules: CHAIN.config, node: undefined };
  assert.notEqual(forkId, SCHEDULE.forkId);
  for (const side of [files, own]) {
    const levels = async (config: object) =>
      (await peerFindings(side, nodeWith(changes(config)))).map(({ level }) => level);
    assert.deepEqual(await levels({ activationTime: lastTime, forkId }), ["ok", "ok"]);
    assert.deepEqual(await levels({ activationTime: lastTime, forkId: "0x01020304" }), ["fault"]);
  }
});

test("a peer that has pruned block 0 is compared by the newest blocks", async () => {
  const pruned = () => {
    throw new RpcResponseError({ code: 4444, message: "pruned history unavailable" });
  };
  const changes = (changed?: number) => ({
    eth_config: pruned,
    eth_getBlockByNumber: ([tag]: [string]) =>
      tag === "0x0" ? pruned() : atBlock(100, changed).eth_getBlockByNumber([tag]),
  });
  assert.deepEqual(await found(changes()), ["ok peer"]);
  assert.deepEqual(await found(changes(100)), ["fault peer"]);
  const files: Own = { chain: CHAIN, rules: CHAIN.config, node: undefined };
  assert.deepEqual(
    (await peerFindings(files, nodeWith(changes()))).map(({ level }) => level),
    ["warning"],
  );
  const view = await viewNode(nodeWith(changes()));
  assert.deepEqual([view.genesisHash, view.schedule], [undefined, undefined]);
});

test("without a node the files of the home are compared", async () => {
  const files: Own = { chain: CHAIN, rules: CHAIN.config, node: undefined };
  const levels = async (changes: Answers) => (await peerFindings(files, nodeWith(changes))).map(({ level }) => level);
  assert.deepEqual(await levels({}), ["ok"]);
  assert.deepEqual(await levels(atBlock(100, 0)), ["fault"]);
});

test("a peer is asked over HTTP within bounds, and its Date header is its clock", async () => {
  let answer: (body: string) => string = () => "";
  let status = 200;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.writeHead(status, { date: new Date(60_000).toUTCString(), location: "http://127.0.0.1:1/" });
    response.end(answer(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  try {
    const peer = askPeer(`http://user:word@127.0.0.1:${port}/key`, () => 50_000);
    assert.equal(peer.name, `http://127.0.0.1:${port}`);
    answer = (body) => JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, result: JSON.parse(body).method });
    assert.equal(await peer.ask("eth_chainId"), "eth_chainId");
    assert.deepEqual(peer.clock(), { ms: 10_500, uncertaintyMs: 500 });
    answer = () => JSON.stringify({ error: { code: -32601, message: "none" } });
    await assert.rejects(peer.ask("eth_chainId"), { code: "CONSOLE_RPC", rpcCode: -32601 });
    for (const text of ["", "<html>", "[]", `"${"x".repeat(5 << 20)}"`]) {
      answer = () => text;
      await assert.rejects(peer.ask("eth_chainId"), { code: "CONSOLE_CONNECTION" });
    }
    // It is not followed.
    status = 302;
    await assert.rejects(peer.ask("eth_chainId"), { code: "CONSOLE_CONNECTION" });
  } finally {
    server.close();
  }
});

test("the difference of two clocks is known to half a second and half the round trip", () => {
  const date = new Date(10_000).toUTCString();
  assert.deepEqual(differenceOf(date, 10_000, 10_400), { ms: 300, uncertaintyMs: 700 });
  assert.equal(differenceOf(null, 0, 0), undefined);
  assert.equal(differenceOf("yesterday", 0, 0), undefined);
});

test("a node runs with block 0 and the fork times of its file, or with others", async () => {
  const level = async (changes: Answers, rules = CHAIN.config) =>
    ownNodeFindings(CHAIN, rules, await viewNode(nodeWith(changes))).map((finding) => finding.level);
  assert.deepEqual(await level({}), ["ok", "ok"]);
  assert.deepEqual(await level(atBlock(100, 0)), ["ok", "fault"]);
  assert.deepEqual(await level({}, rulesOf(CHAIN, new Map([["bpo1Time", 1_900_000_000n]]))), ["ok", "fault"]);
});

test("a block is old beyond twenty block times and a minute, and never where blocks do not come by time", () => {
  const head = { number: 5, hash: block.hash, timestamp: 1_700_000_000 };
  const level = (seconds: number, blockTime: object | string, rules = {}) =>
    ageFinding(
      { consensus: { blockTime } } as Parameters<typeof ageFinding>[0],
      rules,
      head,
      (1_700_000_000 + seconds) * 1_000,
    ).level;
  assert.equal(level(59, { intervalMs: 1_000 }), "ok");
  assert.equal(level(61, { intervalMs: 1_000 }), "fault");
  assert.equal(level(61, { intervalMs: 5_000 }), "ok");
  assert.equal(level(599, { intervalMs: 1_000, emptyMs: 30_000 }), "ok");
  assert.equal(level(601, { intervalMs: 1_000, emptyMs: 30_000 }), "fault");
  // What is agreed counts, whatever the setting of the node says.
  assert.equal(level(101, { intervalMs: 10_000 }, { blockPeriodMs: 5_000 }), "fault");
  assert.equal(level(10_000, "instant"), "ok");
  assert.equal(level(-1, { intervalMs: 1_000 }), "ok");
  assert.equal(level(-10, { intervalMs: 1_000 }), "fault");
});

test("a decided block that names other forks than the file is a fault, and one without a name is not", () => {
  const rules = rulesOf(CHAIN, new Map([["bpo1Time", 1_750_000_000n]]));
  const forks = new ForkHashes({ config: rules, genesisHash: CHAIN.genesisHash, genesisTime: CHAIN.genesisTime });
  const named = (forkHash: Uint8Array | undefined, seconds: number, of = rules) => {
    const feeRecipient = `0x${"00".repeat(20)}` as Address;
    const data = encodeProposerData({ feeRecipient, extraData: new Uint8Array(), gasLimit: 1n, forkHash });
    return namedForksFinding(CHAIN, of, { height: 9, time: { seconds: BigInt(seconds) }, txs: [data] }).level;
  };
  assert.equal(named(forks.at(1_749_999_999), 1_749_999_999), "ok");
  assert.equal(named(forks.at(1_750_000_000), 1_750_000_000), "ok");
  assert.equal(named(forks.at(1_750_000_000), 1_750_000_000, CHAIN.config), "fault");
  assert.equal(named(undefined, 1_750_000_000), "ok");
  assert.throws(() => namedForksFinding(CHAIN, rules, { height: 9, time: { seconds: 0n }, txs: [] }), {
    code: "INVALID_PROPOSER_DATA",
  });
});

test("peers of CometBFT: how many, and that they run the version that is needed", () => {
  const status = { isCatchingUp: false } as Parameters<typeof enginePeersFindings>[0];
  const peer = (version: string) =>
    ({ moniker: "m", version, isOutbound: true }) as Parameters<typeof enginePeersFindings>[1][0];
  const levels = (versions: string[], of = status) =>
    enginePeersFindings(of, versions.map(peer), "0.39.0").map(({ level }) => level);
  assert.deepEqual(levels(["0.39.0", "0.39.0"]), ["ok"]);
  assert.deepEqual(levels(["0.39.0", "0.38.1"]), ["ok", "warning"]);
  assert.deepEqual(levels([]), ["warning"]);
  const texts = (versions: string[]) =>
    enginePeersFindings({ ...status, isCatchingUp: true }, versions.map(peer), "0.39.0").map((each) => each.text);
  assert.match(texts([])[0]!, /cometbft\.persistent-peers/);
  assert.doesNotMatch(texts(["0.39.0"])[0]!, /cometbft\.persistent-peers/);
  assert.deepEqual(levels(["0.39.0"], { ...status, isCatchingUp: true }), ["warning"]);
});
