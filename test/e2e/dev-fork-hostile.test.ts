/** A dev chain that continues another one whose node lies, fails and answers what no node would. The forked node is a process of its own. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import type { GenesisAccount } from "../../src/base/params/genesis-account.ts";
import { type Address, addressFromWord } from "../../src/base/primitives/address.ts";
import { hashFromBigint } from "../../src/base/primitives/hash.ts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import { keccak256Hash } from "../../src/base/primitives/keccak.ts";
import { EMPTY_TRIE_ROOT } from "../../src/base/types/constants.ts";
import type { Header } from "../../src/base/types/header.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { assemble } from "../support/assembler.ts";
import { overHttp } from "../support/clients.ts";
import { runEvmintd, startEvmintd } from "../support/evmintd.ts";
import { createRandom, poison } from "../support/poison.ts";
import {
  answersOf,
  blockJson,
  modelRemoteChain,
  type NumberedCall,
  REMOTE_CHAIN_ID,
  type RemoteChainModel,
  serveBatches,
} from "../support/remote-chain.ts";
import { configJson } from "../support/remote-config.ts";
import { until } from "../support/until.ts";

const [ALICE] = DEV_ADDRESSES;
const accountAt = (n: number): Address => addressFromWord(0xabc000n + BigInt(n));
const CONTRACT = addressFromWord(0xc0de00n);
const word = (value: number) => hashFromBigint(BigInt(value));
/** Adds the word of its call data to slot 0. */
const ADDER = hexToBytes(assemble("PUSH1 00 SLOAD PUSH1 00 CALLDATALOAD ADD PUSH1 00 SSTORE STOP"));
const ACCOUNTS = 1_000;

/** A state in which account n has a balance of `unit` times n. */
function allocOf(unit: number): ReadonlyMap<Address, GenesisAccount> {
  const storage = new Map([[word(0), 40n]]);
  const contract: GenesisAccount = { balance: 0n, nonce: 1n, code: ADDER, storage };
  const accounts = Array.from({ length: ACCOUNTS }, (_, n): [Address, GenesisAccount] => [
    accountAt(n),
    { balance: BigInt(unit * (n + 1)) },
  ]);
  return new Map([...accounts, [CONTRACT, contract]]);
}

const HONEST = modelRemoteChain(allocOf(1));

/** What the remote node does with a batch, until the next test. */
type Behaviour = (calls: readonly NumberedCall[], response: ServerResponse, headers: IncomingHttpHeaders) => unknown;
const honest =
  (model: RemoteChainModel): Behaviour =>
  (calls, response) =>
    response.end(JSON.stringify(answersOf(model, calls)));
/** As HONEST, but for what `change` makes of an item. */
const changed =
  (change: (call: NumberedCall, item: Record<string, unknown>) => object): Behaviour =>
  (calls, response) => {
    const items = answersOf(HONEST, calls) as Record<string, unknown>[];
    response.end(JSON.stringify(items.map((item, i) => change(calls[i]!, item))));
  };

let behave: Behaviour = honest(HONEST);
let remote: Awaited<ReturnType<typeof serveBatches>>;
let folder: string;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "evmint-fork-hostile-"));
  remote = await serveBatches((...request) => behave(...request));
});
afterEach(() => {
  behave = honest(HONEST);
});
after(() => {
  remote.close();
  rmSync(folder, { recursive: true, force: true });
});

type Process = Awaited<ReturnType<typeof startEvmintd>>;
/** A caller that meets what the remote chain answers gets an error; the log has it for the operator. */
const REMOTE_ERRORS = /(?:call|operation) failed .*(?:FORK_|remote chain|remote node)/;

async function start(home: string, ...args: string[]) {
  const node = await startEvmintd(join(folder, home), ["--dev", "--log.level", "info", ...args]);
  node.allowErrors(REMOTE_ERRORS);
  return node;
}

async function kill({ child, exited }: Process): Promise<void> {
  child.kill("SIGKILL");
  await exited;
}

async function call<T = string>(url: string, method: string, ...params: unknown[]): Promise<T> {
  const { result, error } = await overHttp(url, method, params);
  assert.equal(error, undefined, `${method}: ${error?.message}`);
  return result as T;
}

const errorOf = async (url: string, method: string, ...params: unknown[]) =>
  (await overHttp(url, method, params)).error;
type BlockMembers = { readonly number: string; readonly hash: string; readonly parentHash: string };
const blockOf = (url: string, block: string) => call<BlockMembers>(url, "eth_getBlockByNumber", block, false);
const balanceOf = async (url: string, n: number) => Number(await call(url, "eth_getBalance", accountAt(n), "latest"));

/** Peak of resident memory, MiB. */
function peakMb({ child }: Process): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1024;
}

for (const verify of ["on", "off"]) {
  describe(`--fork-verify ${verify}`, () => {
    let node: Process;
    const flags = () => ["--fork-url", remote.url, "--fork-verify", verify];
    before(async () => {
      node = await start(`poison-${verify}`, ...flags());
    });
    after(() => kill(node));

    test("poisoned answers: no wrong balance, nothing of them is stored, the node stays small and starts again", async (context) => {
      let errors = 0;
      const reads = 200;
      for (let n = 0; n < reads; n++) {
        const random = createRandom(n + 1);
        behave = (calls, response) => response.end(poison(answersOf(HONEST, calls), random));
        const { result, error } = await overHttp(node.url, "eth_getBalance", [accountAt(n), "latest"]);
        if (error !== undefined) {
          errors++;
          assert.equal(error.code, -32000, error.message);
        } else if (verify === "on") assert.equal(Number(result), n + 1, `poison ${n}`);
        else assert.match(String(result), /^0x(?:0|[1-9a-f][0-9a-f]{0,63})$/);
      }
      assert.ok(errors > reads / 4, `${errors} errors`);
      const peak = peakMb(node);
      context.diagnostic(`peak of resident memory: ${peak.toFixed(0)} MiB, ${errors} errors`);
      assert.ok(peak < 300, `${peak} MiB`);
      behave = honest(HONEST);
      const isRight = async (n: number) => (await balanceOf(node.url, n)) === n + 1;
      for (let n = 0; n < reads; n++) assert.ok(verify === "off" || (await isRight(n)), `${n}`);
      await kill(node);
      node = await start(`poison-${verify}`, ...flags());
      assert.ok(await isRight(reads + 1));
      for (let n = 0; n < reads; n++) assert.ok(verify === "off" || (await isRight(n)), `${n}`);
    });

    test("an error of the remote chain in a block is no fault of its transaction", async () => {
      const errors = [
        { code: -97, message: "credits used up" },
        { code: 3, message: "execution reverted", data: "0x" },
        { code: -32602, message: "invalid argument" },
      ];
      const before = Number(await call(node.url, "eth_getTransactionCount", ALICE, "latest"));
      let refused = 0;
      behave = changed(({ method, id }, item) => {
        if (!/getProof|getStorageAt|createAccessList/.test(method)) return item;
        return { id, jsonrpc: "2.0", error: errors[refused++ % errors.length] };
      });
      const gas = "0x30d40";
      const request = { from: ALICE, to: CONTRACT, data: word(2), gas };
      const hash = await call(node.url, "eth_sendTransaction", request);
      // Two blocks that could not be made.
      await until(async () => {
        await call(node.url, "web3_clientVersion");
        return refused >= 3 && node.output.stderr.concat(node.output.stdout).includes("FORK_");
      }, "refusals of the remote node");
      behave = honest(HONEST);
      const receipt = () => call<{ status: string } | null>(node.url, "eth_getTransactionReceipt", hash);
      const { status } = (await until(receipt, "a block"))!;
      assert.equal(status, "0x1");
      assert.equal(await call(node.url, "eth_getStorageAt", CONTRACT, "0x0", "latest"), word(42));
      const nonce = Number(await call(node.url, "eth_getTransactionCount", ALICE, "latest"));
      assert.equal(nonce, before + 1);
      assert.ok(!node.output.stderr.concat(node.output.stdout).includes("quarantined"));
    });
  });
}

test("while the remote node takes its time, other calls are answered", async () => {
  const node = await start("slow", "--fork-url", remote.url);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let asked = 0;
  behave = async (...request) => {
    asked++;
    await held;
    return honest(HONEST)(...request);
  };
  const reads = [
    call(node.url, "eth_getBalance", accountAt(7), "latest"),
    call(node.url, "eth_getStorageAt", CONTRACT, "0x0", "latest"),
    call(node.url, "eth_call", { to: CONTRACT, data: word(1) }, "latest"),
  ];
  await until(async () => {
    await call(node.url, "web3_clientVersion");
    return asked >= reads.length;
  }, "the questions of all reads");
  assert.equal(Number(await call(node.url, "eth_blockNumber")), HONEST.header.number);
  release();
  assert.deepEqual(await Promise.all(reads), ["0x8", word(40), "0x"]);
  await kill(node);
});

test("a remote node that fails, lies and is slow by turns changes nothing of the chain", async () => {
  const blocks: Record<string, string>[] = [];
  for (const [name, isFlaky] of [
    ["steady", false],
    ["flaky", true],
  ] as const) {
    const node = await start(`turns-${name}`, "--fork-url", remote.url, "--fork-verify", "on");
    const random = createRandom(1);
    let requests = 0;
    if (isFlaky) {
      behave = (calls, response) => {
        requests++;
        if (requests % 3 === 0) return response.writeHead(503).end();
        const isPoison = requests % 3 === 1 && requests < 30;
        const answers = answersOf(HONEST, calls);
        return response.end(isPoison ? poison(answers, random) : JSON.stringify(answers));
      };
    }
    // A block has both, and they are of this node alone.
    await call(node.url, "hardhat_setPrevRandao", word(9));
    await call(node.url, "evm_setNextBlockTimestamp", HONEST.header.timestamp + 1_000);
    const request = { from: ALICE, to: CONTRACT, data: word(2), gas: "0x30d40" };
    await call(node.url, "eth_sendTransaction", request);
    let block: Record<string, string> | null = null;
    const next = `0x${(HONEST.header.number + 1).toString(16)}`;
    while (block === null) {
      block = await call<typeof block>(node.url, "eth_getBlockByNumber", next, false);
    }
    blocks.push(block);
    assert.ok(!isFlaky || requests > 0);
    behave = honest(HONEST);
    await kill(node);
  }
  assert.deepEqual(blocks[1], blocks[0]);
  assert.notEqual(blocks[0]!["gasUsed"], "0x0");
});

test("a wrong proof is an error that names the remote node, and never a value", async () => {
  const node = await start("proof", "--fork-url", `${remote.url}/v3/KEY`, "--fork-verify", "on");
  const other = modelRemoteChain(allocOf(1_000));
  behave = (calls, response) => {
    // Its own chain, but the proofs of another.
    const items = calls.map((call) => {
      const model = call.method === "eth_getProof" ? other : HONEST;
      return { id: call.id, jsonrpc: "2.0", result: model.resultOf(call) };
    });
    response.end(JSON.stringify(items));
  };
  const error = await errorOf(node.url, "eth_getBalance", accountAt(5), "latest");
  assert.equal(error?.code, -32000);
  assert.ok(error.message.includes(`127.0.0.1:${remote.port}`));
  assert.ok(!error.message.includes("KEY"));
  behave = honest(HONEST);
  assert.equal(await balanceOf(node.url, 5), 6);
  await kill(node);
});

test("a node without proofs: on is an error at the start, auto says that nothing is verified", async () => {
  behave = changed(({ method, id }, item) =>
    method === "eth_getProof"
      ? { id, jsonrpc: "2.0", error: { code: -32601, message: "the method does not exist" } }
      : item,
  );
  const home = join(folder, "unproven");
  const flags = ["--dev", "--fork-url", remote.url, "--json-rpc.address", "127.0.0.1:0"];
  const { code, stderr } = await runEvmintd(["start", "--home", home, ...flags, "--fork-verify", "on"]);
  assert.notEqual(code, 0);
  assert.match(stderr, /eth_getProof/);
  assert.ok(!existsSync(join(home, "config", "fork.json")));
  const node = await start("unproven", "--fork-url", remote.url);
  assert.equal(await balanceOf(node.url, 5), 6);
  assert.match(node.output.stderr + node.output.stdout, /not verified/);
  await kill(node);
});

test("a block with another hash than that of its fields: on is an error at the start, auto says that nothing is verified", async () => {
  behave = changed(({ method }, item) =>
    method === "eth_getBlockByNumber" ? { ...item, result: { ...(item.result as object), hash: word(5) } } : item,
  );
  const home = join(folder, "foreign");
  const flags = ["--dev", "--fork-url", remote.url, "--json-rpc.address", "127.0.0.1:0"];
  const { code } = await runEvmintd(["start", "--home", home, ...flags, "--fork-verify", "on"]);
  assert.notEqual(code, 0);
  assert.ok(!existsSync(join(home, "config", "fork.json")));
  let node = await start("foreign", "--fork-url", remote.url);
  assert.equal(await balanceOf(node.url, 5), 6);
  assert.match(node.output.stderr + node.output.stdout, /not verified/);
  // The first own block continues the block by the hash that everybody else knows it by, also after a restart.
  await call(node.url, "evm_mine");
  const first = await blockOf(node.url, "latest");
  assert.equal(first.parentHash, word(5));
  await kill(node);
  node = await start("foreign", "--fork-url", remote.url);
  await call(node.url, "evm_mine");
  assert.deepEqual(await blockOf(node.url, first.number), first);
  assert.equal((await blockOf(node.url, "latest")).parentHash, first.hash);
  await kill(node);
});

test("block 0 of anvil, whose header has the root of an empty state, is continued, also with a new index", async () => {
  const genesis = modelRemoteChain(allocOf(1), { number: 0, stateRoot: EMPTY_TRIE_ROOT });
  behave = honest(genesis);
  let node = await start("empty-root", "--fork-url", remote.url);
  assert.equal(await balanceOf(node.url, 3), 4);
  await call(node.url, "anvil_setBalance", accountAt(3), "0x9");
  await call(node.url, "evm_mine");
  const first = await blockOf(node.url, "latest");
  assert.deepEqual([first.number, first.parentHash], ["0x1", genesis.hash]);
  for (const isNew of [false, true]) {
    await kill(node);
    if (isNew) rmSync(join(folder, "empty-root", "data", "index"), { recursive: true });
    node = await start("empty-root", "--fork-url", remote.url);
    assert.deepEqual([await balanceOf(node.url, 3), await balanceOf(node.url, 4)], [9, 5]);
    await call(node.url, "evm_mine");
    assert.deepEqual(await blockOf(node.url, "0x1"), first);
  }
  await kill(node);
});

test("chains of one id and number are different chains: a reset reads nothing of the first one's cache", async () => {
  const second = modelRemoteChain(allocOf(1_000), { extraData: new Uint8Array([1]) });
  for (const verify of ["on", "off"]) {
    const home = `twins-${verify}`;
    behave = honest(HONEST);
    let node = await start(home, "--fork-url", remote.url, "--fork-verify", verify);
    assert.equal(await balanceOf(node.url, 3), 4);
    behave = honest(second);
    const forking = { jsonRpcUrl: remote.url, blockNumber: second.header.number };
    await call(node.url, "hardhat_reset", { forking });
    assert.equal(await balanceOf(node.url, 3), 4_000);
    await kill(node);
    node = await start(home, "--fork-url", remote.url, "--fork-verify", verify);
    assert.equal(await balanceOf(node.url, 3), 4_000);
    await kill(node);
  }
});

test("the rules are those of eth_config; what it has that nobody knows is named, and nonsense leaves the header's", async () => {
  const { current } = configJson("osaka");
  const bpo2 = { target: 14, max: 21, baseFeeUpdateFraction: 11_684_671 };
  const answer = (result: unknown) =>
    changed((call, item) => (call.method === "eth_config" ? { jsonrpc: "2.0", id: call.id, result } : item));
  const blobsOf = async ({ url }: Process) =>
    (await call<{ current: { blobSchedule: { max: number } } }>(url, "eth_config")).current.blobSchedule.max;

  behave = answer({
    current: { ...current, blobSchedule: bpo2, systemContracts: { ...current.systemContracts, LATER: "0x1" } },
  });
  let node = await start("rules", "--fork-url", remote.url);
  assert.match(node.output.stdout + node.output.stderr, /does not know.*LATER/);
  assert.equal(await blobsOf(node), 21);
  await kill(node);
  // The home keeps them.
  behave = honest(HONEST);
  node = await start("rules", "--fork-url", remote.url);
  assert.equal(await blobsOf(node), 21);
  await kill(node);

  node = await start("nonsense");
  for (const json of [null, [], "0x", { current: { ...current, chainId: "0x1" } }, configJson("amsterdam")]) {
    behave = answer(json);
    await call(node.url, "hardhat_reset", { forking: { jsonRpcUrl: remote.url } });
    assert.equal(await blobsOf(node), 9);
    await call(node.url, "evm_mine");
  }
  await kill(node);
});

describe("blocks that cannot be continued", () => {
  const big = (bits: bigint) => `0x${(2n ** bits - 1n).toString(16)}`;
  /** Members of the block, in place of honest ones. */
  const ODD: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ["a number of 62 bits", { number: big(62n) }],
    ["a number of 53 bits", { number: big(53n) }],
    ["a number of 256 bits", { number: big(256n) }],
    ["a timestamp of 256 bits", { timestamp: big(256n) }],
    ["a timestamp of 53 bits", { timestamp: big(53n) }],
    ["a gas limit of 256 bits", { gasLimit: big(256n) }],
    ["a gas limit of 64 bits", { gasLimit: big(64n) }],
    ["no gas limit", { gasLimit: "0x0" }],
    ["more gas used than there is", { gasUsed: big(60n) }],
    ["a short bloom", { logsBloom: "0x00" }],
    ["an empty nonce", { nonce: "0x" }],
    ["excess blob gas of 252 bits", { excessBlobGas: big(252n) }],
    ["excess blob gas of 64 bits", { excessBlobGas: big(64n) }],
    ["blob gas of 64 bits", { blobGasUsed: big(64n) }],
    ["a base fee of 256 bits", { baseFeePerGas: big(256n) }],
    ["no base fee", { baseFeePerGas: undefined }],
    ["no withdrawals root, but later fields", { withdrawalsRoot: undefined }],
    ["no state root", { stateRoot: null }],
    ["extra data of a megabyte", { extraData: `0x${"00".repeat(1 << 20)}` }],
    ["a coinbase of 19 bytes", { miner: `0x${"11".repeat(19)}` }],
    ["no hash", { hash: undefined }],
  ];
  /** A process each: those that a look at single fields finds last. */
  const STARTED: ReadonlySet<string> = new Set(["no base fee", "blob gas of 64 bits"]);
  let node: Process;
  before(async () => {
    node = await start("odd");
    await call(node.url, "anvil_setBalance", accountAt(1), "0x1234");
    await call(node.url, "evm_mine");
  });
  after(() => kill(node));

  for (const [name, members] of ODD) {
    for (const verify of STARTED.has(name) ? (["auto", "off"] as const) : []) {
      test(`${name}, with ${verify}: a start fails and stores nothing`, async () => {
        behave = changed(({ method }, item) =>
          method === "eth_getBlockByNumber" ? { ...item, result: { ...withHash(members), ...members } } : item,
        );
        const home = join(folder, `odd-start-${verify}`);
        const { code, stderr } = await runEvmintd([
          "start",
          "--home",
          home,
          "--dev",
          "--fork-url",
          remote.url,
          "--fork-verify",
          verify,
          "--json-rpc.address",
          "127.0.0.1:0",
          "--json-rpc.ws-address",
          "127.0.0.1:0",
        ]);
        assert.notEqual(code, 0);
        assert.match(stderr, /FORK_REMOTE_|remote chain|cannot be continued|hash of its fields/);
        assert.ok(!existsSync(join(home, "config", "fork.json")));
      });
    }

    test(`${name}: a reset fails and changes nothing`, async () => {
      behave = changed(({ method }, item) =>
        method === "eth_getBlockByNumber" ? { ...item, result: { ...withHash(members), ...members } } : item,
      );
      const forking = { jsonRpcUrl: remote.url };
      const error = await errorOf(node.url, "hardhat_reset", { forking });
      assert.equal(error?.code, -32000, error?.message);
      assert.equal(Number(await call(node.url, "eth_blockNumber")), 1);
      assert.equal(await call(node.url, "eth_getBalance", accountAt(1), "latest"), "0x1234");
    });
  }

  test("afterwards the home starts again with its chain, and a good block is continued", async () => {
    await kill(node);
    node = await start("odd");
    assert.equal(await call(node.url, "eth_getBalance", accountAt(1), "latest"), "0x1234");
    behave = honest(HONEST);
    await call(node.url, "hardhat_reset", { forking: { jsonRpcUrl: remote.url } });
    assert.equal(Number(await call(node.url, "eth_chainId")), REMOTE_CHAIN_ID);
    assert.equal(await balanceOf(node.url, 1), 2);
    await call(node.url, "evm_mine");
    await kill(node);
    node = await start("odd");
    assert.equal(Number(await call(node.url, "eth_blockNumber")), HONEST.header.number + 1);
  });

  /** The block with a hash that fits its fields, where they are a header. */
  function withHash(members: Readonly<Record<string, unknown>>): object {
    const { header } = HONEST;
    const fields = Object.entries(members).map(([name, value]) => {
      const known = (header as Record<string, unknown>)[name];
      if (value === undefined || typeof value !== "string") return [name, value];
      if (typeof known === "bigint") return [name, BigInt(value)];
      if (typeof known === "number") return [name, Number(value)];
      return [name, known instanceof Uint8Array ? hexToBytes(value) : value];
    });
    const odd = { ...header, ...Object.fromEntries(fields) } as Header;
    try {
      return blockJson(header, modelRemoteChain(new Map(), odd).hash);
    } catch {
      return blockJson(header, keccak256Hash(new Uint8Array()));
    }
  }
});

describe("addresses and redirects", () => {
  test("a block before London, and fields of proof of work that are null, are continued", async () => {
    for (const [name, model, members] of [
      ["london", modelRemoteChain(allocOf(1), preLondon()), {}],
      ["nulls", HONEST, { nonce: null, difficulty: null, sha3Uncles: null }],
    ] as const) {
      behave = (calls, response) => {
        const items = answersOf(model, calls) as Record<string, unknown>[];
        const isBlock = (i: number) => calls[i]!.method === "eth_getBlockByNumber";
        const ofBlock = (item: Record<string, unknown>) => ({
          ...item,
          result: { ...(item["result"] as object), ...members },
        });
        response.end(JSON.stringify(items.map((item, i) => (isBlock(i) ? ofBlock(item) : item))));
      };
      const node = await start(`early-${name}`, "--fork-url", remote.url, "--fork-verify", "on");
      await call(node.url, "evm_mine");
      assert.equal(await balanceOf(node.url, 5), 6);
      await kill(node);
    }
  });

  test("user and password become a header; path, query and password are shown nowhere", async () => {
    const seen: unknown[] = [];
    behave = (calls, response, headers) => {
      seen.push(headers.authorization);
      return honest(HONEST)(calls, response, headers);
    };
    const url = `http://user:PASS%21WORD@127.0.0.1:${remote.port}/v3/SECRETKEY?token=TOKEN`;
    const node = await start("secret", "--fork-url", url);
    const info = await call<{ forkConfig: { forkUrl: string } }>(node.url, "anvil_nodeInfo");
    assert.equal(info.forkConfig.forkUrl, `http://127.0.0.1:${remote.port}/…`);
    const expected = `Basic ${Buffer.from("user:PASS!WORD").toString("base64")}`;
    assert.ok(seen.length > 0 && seen.every((each) => each === expected));
    behave = (_, response) => response.writeHead(404).end("{}");
    const errors = [
      await errorOf(node.url, "eth_getBalance", accountAt(9), "latest"),
      await errorOf(node.url, "anvil_setRpcUrl", url),
      await errorOf(node.url, "hardhat_reset", { forking: { jsonRpcUrl: `${url}2` } }),
    ];
    for (const error of errors) assert.equal(error?.code, -32000);
    behave = honest(HONEST);
    await call(node.url, "hardhat_reset", { forking: { jsonRpcUrl: `${url}2`, blockNumber: 100 } });
    const metadata = await call<unknown>(node.url, "hardhat_metadata");
    const texts = JSON.stringify([errors, metadata]) + node.output.stdout + node.output.stderr;
    for (const secret of ["PASS", "SECRETKEY", "TOKEN"]) assert.ok(!texts.includes(secret), secret);
    assert.equal(statSync(join(folder, "secret", "config", "fork.json")).mode & 0o777, 0o600);
    await kill(node);
  });

  test("a redirect is not followed, and no text of what is no node reaches a caller", async (context) => {
    let reached = 0;
    const inner = await serveBatches((_, response) => {
      reached++;
      response.end('{"SecretAccessKey":"hidden"}');
    });
    context.after(() => inner.close());
    const node = await start("redirect");
    context.after(() => kill(node));
    behave = (_, response) => response.writeHead(307, { location: inner.url }).end();
    const forking = { jsonRpcUrl: remote.url };
    assert.equal((await errorOf(node.url, "hardhat_reset", { forking }))?.code, -32000);
    assert.equal(reached, 0);
    const direct = { jsonRpcUrl: inner.url };
    const error = await errorOf(node.url, "hardhat_reset", { forking: direct });
    assert.equal(error?.code, -32000);
    assert.ok(reached > 0 && !JSON.stringify(error).includes("hidden"));
  });

  function preLondon(): Partial<Header> {
    const none = { baseFeePerGas: undefined, withdrawalsRoot: undefined, blobGasUsed: undefined };
    const later = { excessBlobGas: undefined, parentBeaconBlockRoot: undefined };
    const work = { difficulty: 5n, nonce: new Uint8Array(8).fill(1) };
    return { ...none, ...later, requestsHash: undefined, ...work } as unknown as Partial<Header>;
  }
});
