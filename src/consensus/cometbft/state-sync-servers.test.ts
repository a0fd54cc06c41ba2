import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { after, test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { addressFromBytes } from "../../base/primitives/address.ts";
import { type Hash, hashFromBigint, hashToBytes } from "../../base/primitives/hash.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import type { Parameter } from "../../chain/agreement/agreement.ts";
import type { ConsensusData } from "../consensus-data.ts";
import { encodeProposerData } from "../consensus-data.ts";
import type { Offence } from "../voting/jail.ts";
import type { Vote } from "../voting/snapshot.ts";
import { dataHash, engineHeaderHash } from "./rpc/block.ts";
import { type EngineRpcAddress, parseRpcAddress } from "./rpc/client.ts";
import { StateSyncServers } from "./state-sync.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint servers,#?%-"));
const servers: Server[] = [];
after(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
  rmSync(folder, { recursive: true });
});

const HEIGHT = 7;
const CHAIN_ID = "evmint-9000";
const address = (byte: number) => addressFromBytes(new Uint8Array(20).fill(byte));
const STARTING_SET = {
  initialHeight: 1,
  signers: [{ address: address(1), publicKey: new Uint8Array(33).fill(2) }],
};
const VOTE: Vote = { candidate: address(9), authorize: false, publicKey: new Uint8Array() };
const PARAMETER: Parameter = { name: "gasLimit", value: 45_000_000n };

type Made = {
  chainId: string;
  height: number;
  nanos: number;
  proposer: number;
  parentRound: number;
  appHash: bigint;
  vote?: Vote;
  parameterVote?: Parameter;
  /** About what its evidence is; the second half of it as an attack on light clients. */
  offences?: readonly Offence[];
};
const MADE: Made = {
  chainId: CHAIN_ID,
  height: HEIGHT,
  nanos: 120_000_000,
  proposer: 3,
  parentRound: 2,
  appHash: 5n,
  vote: VOTE,
};

/** What a CometBFT with this block answers, and the consensus data that it means. */
function blockWith(changes: Partial<Made> = {}, txs: readonly Uint8Array[] = []) {
  const {
    chainId,
    height,
    nanos,
    proposer,
    parentRound,
    appHash,
    vote,
    parameterVote,
    offences = [],
  } = {
    ...MADE,
    ...changes,
  };
  const first = encodeProposerData({
    feeRecipient: address(4),
    extraData: new Uint8Array(),
    gasLimit: 30_000_000n,
    ...(vote && { vote }),
    ...(parameterVote && { parameterVote }),
  });
  const hash = hashToBytes(hashFromBigint(8n));
  const header = {
    version: { block: 11n, app: 1n },
    chainId,
    height: BigInt(height),
    time: { seconds: 1_700_000_000n, nanos },
    lastBlockId: { hash, parts: { total: 1, hash } },
    lastCommitHash: hash,
    dataHash: dataHash([first, ...txs]),
    validatorsHash: hash,
    nextValidatorsHash: hash,
    consensusHash: hash,
    lastResultsHash: hash,
    evidenceHash: hash,
    appHash: hashToBytes(hashFromBigint(appHash)),
    proposerAddress: new Uint8Array(20).fill(proposer),
  };
  const consensusHash = engineHeaderHash(header);
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex").toUpperCase();
  const digits = hex(hash);
  const id = { hash: digits, parts: { total: 1, hash: digits } };
  const fraction = String(nanos).padStart(9, "0").replace(/0+$/, "");
  const answer = {
    block_id: { hash: consensusHash.slice(2).toUpperCase(), parts: id.parts },
    block: {
      header: {
        version: { block: "11", app: "1" },
        chain_id: chainId,
        height: String(height),
        time: `2023-11-14T22:13:20${fraction && `.${fraction}`}Z`,
        last_block_id: id,
        last_commit_hash: digits,
        data_hash: hex(header.dataHash),
        validators_hash: digits,
        next_validators_hash: digits,
        consensus_hash: digits,
        app_hash: hex(header.appHash),
        last_results_hash: digits,
        evidence_hash: digits,
        proposer_address: hex(header.proposerAddress),
      },
      data: { txs: [first, ...txs].map((tx) => Buffer.from(tx).toString("base64")) },
      evidence: { evidence: offences.map(evidenceOf) },
      last_commit: { height: String(height - 1), round: parentRound, block_id: id, signatures: [] },
    },
  };
  const data: ConsensusData = {
    consensusHash,
    proposer: address(proposer),
    nanos,
    parentRound,
    ...((vote || parameterVote || offences.length > 0) && {
      cast: { vote, parameterVote, offences, startingSet: STARTING_SET },
    }),
  };
  return { answer, data };
}

/** One of each kind in turn. */
function evidenceOf(offence: Offence, index: number) {
  const digits = offence.address.slice(2).toUpperCase();
  const height = String(offence.height);
  if (index % 2 === 0) {
    const vote = { type: 1, height, validator_address: digits };
    return { type: "tendermint/DuplicateVoteEvidence", value: { vote_a: vote, vote_b: vote, TotalVotingPower: "4" } };
  }
  const value = { ConflictingBlock: {}, CommonHeight: height, ByzantineValidators: [{ address: digits }] };
  return { type: "tendermint/LightClientAttackEvidence", value };
}

async function listen(listener: RequestListener, path?: string): Promise<EngineRpcAddress> {
  const server = createServer(listener);
  servers.push(server);
  if (path === undefined) server.listen(0, "127.0.0.1");
  else server.listen(path);
  await once(server, "listening");
  const text = path === undefined ? `127.0.0.1:${(server.address() as AddressInfo).port}` : `unix://${path}`;
  return parseRpcAddress(text)!;
}

/** A server whose answer to `block` has this result. */
const answering = (result: unknown, path?: string) =>
  listen(async (request, response) => {
    const { method, params } = (await json(request)) as { method: string; params: object };
    assert.deepEqual([method, params], ["block", { height: String(HEIGHT) }]);
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
  }, path);

function dataOf(addresses: readonly EngineRpcAddress[], timers: Timers = fatalTimers) {
  const options = { servers: addresses, chainId: CHAIN_ID, startingSet: STARTING_SET, jail: true };
  return new StateSyncServers(options, { log: STRICT_LOGGER, timers }).consensusDataOf(HEIGHT);
}

const UNKNOWN = { code: "ENGINE_CONSENSUS_DATA_UNKNOWN" };

test("servers on a port and on a unix socket agree on the consensus data, with and without a vote", async () => {
  const cases: readonly Partial<Made>[] = [
    {},
    { nanos: 0, parentRound: 0 },
    { nanos: 999_999_999, vote: { ...VOTE, candidate: address(8) } },
    { parameterVote: PARAMETER },
    { vote: undefined as never, parameterVote: PARAMETER, offences: [{ address: address(1), height: 5 }] },
    {
      offences: [
        { address: address(1), height: 5 },
        { address: address(2), height: 6 },
      ],
    },
  ];
  for (const [index, changes] of cases.entries()) {
    const { answer, data } = blockWith(changes, [Uint8Array.of(2, 1), new Uint8Array(100_000)]);
    const pair = [await answering(answer), await answering(answer, join(folder, `rpc-${index}.sock`))];
    assert.deepEqual(await dataOf(pair), data);
  }
  const { answer, data } = blockWith();
  const { vote, ...withoutVote } = MADE;
  assert.notEqual(vote, undefined);
  assert.deepEqual(await dataOf([await answering(answer)]), data);
  const plain = blockWith({ ...withoutVote, vote: undefined as never });
  assert.equal(plain.data.cast, undefined);
  assert.deepEqual(await dataOf([await answering(plain.answer)]), plain.data);
});

test("servers that contradict each other in anything are no source", async () => {
  const good = await answering(blockWith().answer);
  const others: readonly Partial<Made>[] = [
    { nanos: 1 },
    { proposer: 4 },
    { parentRound: 0 },
    { appHash: 6n },
    { vote: undefined as never },
    { vote: { ...VOTE, candidate: address(8) } },
    { parameterVote: PARAMETER },
    { offences: [{ address: address(1), height: 5 }] },
  ];
  for (const changes of others) {
    const other = await answering(blockWith(changes).answer);
    await assert.rejects(dataOf([good, other]), UNKNOWN, Object.keys(changes).join());
    await assert.rejects(dataOf([good, good, other]), UNKNOWN);
  }
});

/** Writes bytes for as long as somebody reads them. */
function endless(response: ServerResponse, chunk: string): void {
  while (!response.destroyed && response.write(chunk));
  if (!response.destroyed) response.once("drain", () => endless(response, chunk));
}

test("a server without a usable answer is left out, and without any there is no source", async () => {
  const { answer, data } = blockWith();
  const good = await answering(answer);
  const redirect = "url" in good ? good.url.href : "";
  const unusable: Readonly<Record<string, EngineRpcAddress>> = {
    "nobody there": { socketPath: join(folder, "none.sock") },
    "hangs up": await listen((request) => request.destroy()),
    "an answer without end": await listen((_, response) => endless(response, " ".repeat(1 << 20))),
    "another length than announced": await listen((_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("{}", () => response.destroy());
    }),
    redirect: await listen((_, response) => {
      response.writeHead(307, { location: redirect }).end("{}");
    }),
    "no JSON": await listen((_, response) => response.end("block")),
    "an error": await listen((_, response) => {
      response.end('{"error":{"code":-32603,"message":"x","data":{"toString":1,"valueOf":1}}}');
    }),
    "a block that it does not have": await answering({ block_id: { hash: "" }, block: null }),
    "another chain": await answering(blockWith({ chainId: "evmint-9001" }).answer),
    "another height": await answering(blockWith({ height: HEIGHT + 1 }).answer),
    "a block without proposer data": await answering({
      ...answer,
      block: { ...answer.block, data: { txs: null } },
    }),
  };
  for (const [name, server] of Object.entries(unusable)) {
    await assert.rejects(dataOf([server]), UNKNOWN, name);
    await assert.rejects(dataOf([server, server]), UNKNOWN, name);
    assert.deepEqual(await dataOf([server, good]), data, name);
  }
  await assert.rejects(dataOf([]), UNKNOWN);
});

test("a server that does not answer, or a byte at a time, is left out after the time for an answer", async () => {
  const asked = new Map<string, () => void>();
  const isAsked = (name: string) => new Promise<void>((resolve) => asked.set(name, resolve));
  const silent = await listen(() => asked.get("silent")?.());
  const slow = await listen((_, response) => {
    response.write(" ");
    asked.get("slow")?.();
  });
  const { answer, data } = blockWith();
  const good = await answering(answer);
  for (const servers of [
    [silent, slow],
    [silent, good, slow],
  ]) {
    const timers = new ManualTimers();
    const waits = [isAsked("silent"), isAsked("slow")];
    let isOver = false;
    const found = dataOf(servers, timers).finally(() => {
      isOver = true;
    });
    found.catch(() => {});
    await Promise.all(waits);
    await timers.advance(14_999);
    assert.equal(isOver, false);
    await timers.advance(1);
    if (servers.includes(good)) assert.deepEqual(await found, data);
    else await assert.rejects(found, UNKNOWN);
  }
});

/** Every value in `answer` in turn replaced by `value`. */
function* damaged(answer: unknown, value: unknown, path = ""): Generator<[string, unknown]> {
  if (typeof answer !== "object" || answer === null) return;
  for (const [name, member] of Object.entries(answer)) {
    const replace = (changed: unknown) =>
      Array.isArray(answer) ? answer.with(Number(name), changed) : { ...answer, [name]: changed };
    yield [`${path}.${name}`, replace(value)];
    for (const [at, changed] of damaged(member, value, `${path}.${name}`)) {
      yield [at, replace(changed)];
    }
  }
}

/** What neither the hash of the header covers nor the consensus data has. */
const UNUSED = /^\.block_id\.parts|^\.block\.last_commit\.(height|block_id|signatures)/;

test("an answer that is damaged anywhere is no answer", async () => {
  const { answer, data } = blockWith();
  let result: unknown;
  const server = await listen((_, response) => response.end(JSON.stringify({ result })));
  let count = 0;
  const values = [null, 7, -1, 2 ** 31, 1e300, "", "0", "-1", "0x1", "F".repeat(64), {}, [], true];
  for (const value of values) {
    for (const [path, changed] of [["", value] as const, ...damaged(answer, value)]) {
      result = changed;
      count++;
      const isNoEvidence = path === ".block.evidence.evidence" && (value === null || Array.isArray(value));
      if (UNUSED.test(path) || isNoEvidence) assert.deepEqual(await dataOf([server]), data, path);
      else if (path === ".block.last_commit.round" && value === 7) {
        // Signatures cover it, which the light client verifies and this node does not: only the other servers find it out.
        assert.deepEqual(await dataOf([server]), { ...data, parentRound: 7 });
      } else await assert.rejects(dataOf([server]), UNKNOWN, `${path}: ${JSON.stringify(value)}`);
    }
  }
  assert.ok(count > 400, `${count}`);
});

test("the hash of a block is not taken from the server", async () => {
  const { answer } = blockWith();
  const other: Hash = hashFromBigint(99n);
  const claimed = { ...answer, block_id: { ...answer.block_id, hash: other.slice(2) } };
  await assert.rejects(dataOf([await answering(claimed)]), UNKNOWN);
});

test("addresses of servers are read as CometBFT reads them", () => {
  const urls = {
    "127.0.0.1:26657": "http://127.0.0.1:26657/",
    "tcp://node:26657": "http://node:26657/",
    "http://node:26657": "http://node:26657/",
    "https://node/path": "https://node/path",
    "[::1]:26657": "http://[::1]:26657/",
  };
  for (const [text, href] of Object.entries(urls)) {
    const address = parseRpcAddress(text)!;
    assert.equal("url" in address && address.url.href, href);
  }
  assert.deepEqual(parseRpcAddress("unix:///home/a b#?%/rpc.sock"), {
    socketPath: "/home/a b#?%/rpc.sock",
  });
  for (const text of ["", "unix://rpc.sock", "ftp://node:1", "node:x", "http://", "file:///x"]) {
    assert.equal(parseRpcAddress(text), undefined, text);
  }
});
