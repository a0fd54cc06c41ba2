import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { signTransaction } from "../../src/base/types/transaction/sign.ts";
import { inTurn, isError, median } from "../support/load.ts";
import { call, type Peer, startAnvil, startEvmint, startGeth } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";
import { BLOCK_GAS_LIMIT, genesisText, senderKeys, signAll } from "../throughput/workload.ts";

const PEERS = ["evmint", "anvil", "geth"];
const ROUNDS = 3;
const SECONDS = 2;
const REQUESTS_MIN = 2;
const TRANSACTIONS = 200;
/** geth keeps the states of 128 blocks, which have to last for all rounds. */
const BLOCK_SECONDS = 12;
const FILL_ATTEMPTS = 15;
/** The first traces run while code is compiled, on a machine that may be busy. */
const TIMEOUT = "60s";
const CHAIN_ID = 31_337n;
/** 20,000 rounds of JUMPDEST PUSH1 1 ADD DUP1 PUSH2 20000 GT PUSH1 1 JUMPI: 160,000 steps. */
const LOOP = "0x5f5b60010180614e2011600157";

/**
 * CPU and time of a trace on one connection, ours and its peers in turn: every peer traces the same transactions of the same chain.
 *
 *     npm run bench -- trace [evmint|anvil|geth …] [part of a row's name …]
 */
export async function run(words: readonly string[]): Promise<void> {
  const names = words.filter((word) => PEERS.includes(word));
  const rowWords = words.filter((word) => !PEERS.includes(word));
  const keys = senderKeys(TRANSACTIONS + 1);
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const genesisFile = join(directory, "genesis.json");
  writeFileSync(genesisFile, genesisText(keys));
  const options = { genesisFile, blockTimeSeconds: BLOCK_SECONDS };
  const gasLimit = `${BLOCK_GAS_LIMIT}`;
  const isWanted = (name: string) => names.length === 0 || names.includes(name);
  const peers: Peer[] = [];
  try {
    const started = [
      isWanted("evmint") &&
        (await startEvmint({
          ...options,
          extraArguments: ["--consensus.gas-limit", gasLimit, "--json-rpc.api", "eth,debug,trace,txpool"],
          ...(process.env["NODE_ARGS"] && {
            runtimeArguments: process.env["NODE_ARGS"].split(" "),
          }),
        })),
      isWanted("anvil") &&
        (await startAnvil({
          blockTimeSeconds: BLOCK_SECONDS,
          // Without steps its struct logs are empty.
          extraArguments: ["--init", genesisFile, "--gas-limit", gasLimit, "--steps-tracing"],
        })),
      isWanted("geth") &&
        (await startGeth({
          ...options,
          extraArguments: ["--miner.gaslimit", gasLimit, "--http.api", "eth,debug,txpool"],
        })),
    ];
    for (const peer of started) if (peer) peers.push(peer);
    const requests = await Promise.all(peers.map((peer) => prepare(peer, keys)));
    const rows = [];
    for (const trace of Object.keys(requests[0]!)) {
      if (rowWords.length > 0 && !rowWords.some((word) => trace.includes(word))) continue;
      rows.push(await measure(trace, peers, requests));
      console.log(JSON.stringify(rows.at(-1)));
    }
    printTable(rows);
    writeResult("trace", rows, { transactions: TRANSACTIONS });
  } finally {
    await Promise.all(peers.map((peer) => peer.stop()));
    rmSync(directory, { recursive: true, force: true });
  }
}

type Requests = Readonly<Record<string, string | undefined>>;

async function measure(trace: string, peers: readonly Peer[], requests: readonly Requests[]) {
  const runs = peers.map(() => [] as { cpu: number; p50: number }[]);
  // The first round is not counted: in it code is compiled and caches are filled.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, peer] of inTurn([...peers.entries()], round)) {
      const body = requests[i]![trace];
      if (body === undefined) continue;
      const run = await repeat(peer, body);
      if (round > 0) runs[i]!.push(run);
    }
  }
  const row: Record<string, string | number> = { trace };
  const ours = peers.findIndex(({ name }) => name === "evmint");
  const cpuOf = (i: number) => median(runs[i]!.map(({ cpu }) => cpu));
  for (const [i, { name }] of peers.entries()) {
    const isMeasured = runs[i]!.length > 0;
    row[`${name} CPU ms`] = isMeasured ? cpuOf(i) : "-";
    row[`${name} p50 ms`] = isMeasured ? median(runs[i]!.map(({ p50 }) => p50)) : "-";
    if (i !== ours && ours >= 0) {
      row[`CPU of ${name} / ours`] = isMeasured ? cpuOf(i) / cpuOf(ours) : "-";
    }
  }
  return row;
}

/** Sends the request again and again, one at a time, for `SECONDS`; processor time of each and the median time, in milliseconds. */
async function repeat(peer: Peer, body: string): Promise<{ cpu: number; p50: number }> {
  const times: number[] = [];
  const cpuBefore = peer.cpuSeconds();
  const end = performance.now() + SECONDS * 1000;
  while (performance.now() < end || times.length < REQUESTS_MIN) {
    const begin = performance.now();
    const response = await fetch(`http://127.0.0.1:${peer.port}`, {
      method: "POST",
      headers: { "content-type": "application/json", connection: "close" },
      body,
    });
    const answer = Buffer.from(await response.arrayBuffer());
    times.push(performance.now() - begin);
    const beginning = answer.toString("latin1", 0, 300);
    if (isError(beginning)) throw new Error(`${peer.name}: ${beginning}`);
  }
  return { cpu: ((peer.cpuSeconds() - cpuBefore) * 1000) / times.length, p50: median(times) };
}

/** Fills a block with token transfers and mines the heavy transaction; the bodies of the requests by what they trace. */
async function prepare(peer: Peer, keys: readonly Uint8Array[]): Promise<Requests> {
  const { port, name } = peer;
  const heavy = signTransaction(
    {
      type: 2,
      chainId: CHAIN_ID,
      nonce: 0n,
      to: null,
      value: 0n,
      gasLimit: 5_000_000n,
      maxFeePerGas: 10n ** 11n,
      maxPriorityFeePerGas: 10n ** 9n,
      accessList: [],
      data: hexToBytes(LOOP),
    },
    keys.at(-1)!,
  );
  const block = await fullBlock(peer, keys.slice(0, TRANSACTIONS));
  await call(port, "eth_sendRawTransaction", [bytesToHex(heavy.raw)]);
  await blockOf(port, heavy.hash);
  const request = (method: string, ...params: readonly unknown[]) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const ofBlock = (tracer: string, tracerConfig?: object) =>
    request("debug_traceBlockByNumber", block, {
      tracer,
      timeout: TIMEOUT,
      ...(tracerConfig && { tracerConfig }),
    });
  const isAnvil = name === "anvil";
  const isGeth = name === "geth";
  const requests: Requests = {
    "callTracer, block": ofBlock("callTracer"),
    "prestateTracer, block": ofBlock("prestateTracer"),
    "prestateTracer diffMode, block": ofBlock("prestateTracer", { diffMode: true }),
    "struct log, 160,000 steps": request("debug_traceTransaction", heavy.hash, {
      timeout: TIMEOUT,
    }),
    "callTracer with logs, block": ofBlock("callTracer", { withLog: true }),
    "flatCallTracer, block": isAnvil ? undefined : ofBlock("flatCallTracer"),
    // geth has no trace_block; its tracer makes the same list, without rewards.
    trace_block: isGeth ? ofBlock("flatCallTracer", { convertParityErrors: true }) : request("trace_block", block),
    "4byteTracer, block": ofBlock("4byteTracer"),
    "noopTracer, block": ofBlock("noopTracer"),
    "muxTracer, block": ofBlock("muxTracer", { callTracer: {}, prestateTracer: {}, "4byteTracer": {} }),
    "opcountTracer, block": isAnvil ? undefined : ofBlock("opcountTracer"),
    "script with step, 160,000 steps": isAnvil
      ? undefined
      : request("debug_traceTransaction", heavy.hash, {
          timeout: TIMEOUT,
          tracer:
            "{n:0,step:function(log){if(log.op.toNumber()==1)this.n++},fault:function(){},result:function(){return this.n}}",
        }),
  };
  for (const [trace, body] of Object.entries(requests)) {
    if (body !== undefined) await assertAnswered(peer, trace, body);
  }
  return requests;
}

/** A block of `TRANSACTIONS` transfers. A node that is still compiling may not pack all of them in its time for a block. */
async function fullBlock({ port, name }: Peer, keys: readonly Uint8Array[]): Promise<string> {
  const transfers = signAll("erc20", keys, FILL_ATTEMPTS * TRANSACTIONS);
  for (let attempt = 0; attempt < FILL_ATTEMPTS; attempt++) {
    const before = await call<string>(port, "eth_blockNumber", []);
    while ((await call<string>(port, "eth_blockNumber", [])) === before) await pause();
    const batch = transfers.slice(attempt * TRANSACTIONS, (attempt + 1) * TRANSACTIONS);
    // In one request, so that all of them wait when the next block is built.
    const response = await fetch(`http://127.0.0.1:${port}`, {
      method: "POST",
      headers: { "content-type": "application/json", connection: "close" },
      body: JSON.stringify(
        batch.map(({ raw }, id) => ({
          jsonrpc: "2.0",
          id,
          method: "eth_sendRawTransaction",
          params: [raw],
        })),
      ),
    });
    const answers = (await response.json()) as readonly { readonly error?: object }[];
    const rejected = answers.find(({ error }) => error !== undefined);
    if (rejected) throw new Error(`${name}: ${JSON.stringify(rejected)}`);
    const blocks = new Set<string>();
    for (const { hash } of batch) blocks.add(await blockOf(port, hash));
    if (blocks.size === 1) return [...blocks][0]!;
  }
  throw new Error(`${name}: no block has ${TRANSACTIONS} transactions`);
}

/** A rejection would be a fast answer. */
async function assertAnswered({ port, name }: Peer, trace: string, body: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body,
  });
  const text = await response.text();
  // A block's answer also tells of single transactions.
  if (text.length < 10_000 || text.includes('"error"')) {
    const isShort = trace.startsWith("script") && text.includes('"result":20000');
    if (!isShort) throw new Error(`${name}, ${trace}: ${text.slice(0, 300)}`);
  }
  console.log(`${name}, ${trace}: ${text.length} bytes`);
}

async function blockOf(port: number, hash: string): Promise<string> {
  for (;;) {
    const found = await call<{ blockNumber: string } | null>(port, "eth_getTransactionReceipt", [hash]).catch(
      () => null,
    );
    if (found) return found.blockNumber;
    await pause();
  }
}

const pause = () => new Promise((done) => setTimeout(done, 20));
