import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { DEFAULT_BLOB_SCHEDULE } from "../../src/base/params/blob-schedule.ts";
import { blobBaseFee } from "../../src/base/params/fees.ts";
import type { GenesisAlloc } from "../../src/base/params/genesis-account.ts";
import { HARDFORKS, type Hardfork, RULES_AT } from "../../src/base/params/hardforks.ts";
import { EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { hashFromBigint } from "../../src/base/primitives/hash.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { toQuantity } from "../../src/base/primitives/quantity.ts";
import { decodeRlp, encodeRlp } from "../../src/base/primitives/rlp.ts";
import type { Evm } from "../../src/evm/machine/evm.ts";
import type { Tracer } from "../../src/evm/machine/tracer.ts";
import { textString } from "../../src/evm/tracing/json-writer.ts";
import { createJsonLogger } from "../../src/evm/tracing/struct-logger.ts";
import { createTraceBudget } from "../../src/evm/tracing/trace-budget.ts";
import { textOf } from "../../src/evm/tracing/tracer-config.ts";
import type { JsonAlloc } from "../conformance/alloc.ts";
import { createEngines } from "../conformance/engines.ts";
import { FORKS } from "../conformance/forks.ts";
import { executeVector, type Vector, type VectorResult } from "../conformance/state-tests.ts";
import type { Suite } from "../conformance/suite.ts";
import { executeCaseByList, type T8nCase, t8nDifference, writeT8nCases } from "../conformance/t8n.ts";
import { generateBlockAtBorders } from "./block-borders.ts";
import { withoutBareStorage } from "./case.ts";
import { generateBlock } from "./generate-block.ts";
import { generateTransactionCase } from "./generate-transaction.ts";
import { generateParallelCase, type ParallelCase } from "./parallel-block.ts";
import { allocOf, blockOf, COINBASE } from "./run.ts";
import { answeredByGeth, EVM, type T8nInput } from "./t8n-oracle.ts";
import { KEYS, type TransactionCase, transactionOf } from "./transaction-case.ts";

/** Cases that one process runs; of traced ones the text of each step is in memory. */
const CASES_EACH = { transactions: 200, traces: 20, blocks: 100 } as const;
const OUTPUT_BYTES_MAX = 1 << 30;
const DIFFERENCES_SHOWN = 20;
const TRACE_MS_MAX = 60_000;

const KINDS = ["transactions", "traces", "blocks"] as const;
type Kind = (typeof KINDS)[number];
type Finding = { readonly seed: number; readonly kind: Kind; readonly text: string };
type Options = {
  readonly fork: Hardfork | undefined;
  readonly evm: Evm;
  readonly dir: string;
  /** Gets every block with what geth answered. */
  readonly recorded: T8nCase[] | undefined;
};
type Seeds = readonly number[];

const USAGE =
  "usage: fuzz [--seed N] [--count N] [--kind transactions|traces|blocks] [--fork NAME] [--engine NAME] [--record FILE]";

/**
 * Random transactions and blocks, executed here and by go-ethereum's `evm`: state roots, logs, and of traced ones each step as
 * text (EIP-3155); of blocks the whole header and which transactions were rejected, and again with each transaction executed by the
 * block's access list. A transaction in `count` is traced ten times as rarely, and a block is built as rarely, since each is a
 * process. `--record` writes the blocks as cases of the suite `t8n`.
 */
export const run: Suite = async (args) => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: "1" },
      count: { type: "string", default: "2000" },
      kind: { type: "string" },
      fork: { type: "string" },
      engine: { type: "string", default: "evmint" },
      record: { type: "string" },
    },
  });
  if (values.kind !== undefined && !KINDS.includes(values.kind as Kind)) throw new Error(USAGE);
  const { status, stdout } = spawnSync(EVM, ["--version"], { encoding: "utf8" });
  if (status !== 0) {
    console.log("left out: no evm of go-ethereum on the PATH (GETH_EVM names another place)");
    return { passed: 0, failed: 0 };
  }
  console.log(`against ${stdout.trim()}`);
  const dir = mkdtempSync(join(tmpdir(), "evmint-geth-evm-"));
  const evm = await createEngines(values.engine);
  const recorded: T8nCase[] | undefined = values.record === undefined ? undefined : [];
  const options = { fork: values.fork as Hardfork | undefined, evm, dir, recorded };
  const [first, count] = [Number(values.seed), Number(values.count)];
  const findings: Finding[] = [];
  let total = 0;
  try {
    for (const kind of KINDS) {
      if (values.kind !== undefined && values.kind !== kind) continue;
      const every = values.kind === undefined && kind !== "transactions" ? 10 : 1;
      const seeds = Array.from({ length: Math.ceil(count / every) }, (_, i) => first + i * every);
      const found = kind === "blocks" ? blockFindings(seeds, options) : vectorFindings(seeds, kind, options);
      console.log(`${kind}: ${seeds.length}, ${found.length} differ`);
      total += seeds.length;
      findings.push(...found);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  if (values.record && recorded) writeT8nCases(values.record, recorded);
  const rest = values.fork === undefined ? "" : ` --fork ${values.fork}`;
  for (const { seed, kind, text } of findings.slice(0, DIFFERENCES_SHOWN)) {
    console.log(`${text}\n  npm run conformance -- fuzz --seed ${seed} --count 1 --kind ${kind}${rest}`);
  }
  return { passed: total - findings.length, failed: findings.length };
};

// Transactions, as state tests

const NETWORKS = new Map(Object.entries(FORKS).map(([network, hardfork]) => [hardfork, network]));

/** As vectors of state tests: their chain has the id 1. */
function vectorCase(seed: number, fork: Hardfork | undefined): TransactionCase {
  const generated = generateTransactionCase(seed, fork);
  const own = (chainId: string) => (chainId === "1337" ? "1" : chainId === "1" ? "2" : chainId);
  const { type, chainId } = generated;
  return {
    ...generated,
    accounts: withoutBareStorage(generated.accounts),
    // State tests reward the coinbase once more, in different ways where it destroyed itself and may be empty.
    coinbase: RULES_AT[generated.hardfork].spuriousDragon ? generated.coinbase : COINBASE,
    chainId: chainId === null && type === 0 ? null : "1",
    authorizations: generated.authorizations.map((each) => ({ ...each, chainId: own(each.chainId) })),
  };
}

function vectorOf(fuzzCase: TransactionCase): Pick<Vector, "env" | "pre"> {
  const { hardfork, coinbase, baseFeePerGas } = fuzzCase;
  const { number, timestamp, gasLimit, difficulty, prevRandao } = blockOf(fuzzCase);
  const env = {
    currentCoinbase: coinbase,
    currentNumber: toQuantity(number),
    currentTimestamp: toQuantity(timestamp),
    currentGasLimit: toQuantity(gasLimit),
    currentDifficulty: toQuantity(difficulty),
    ...(RULES_AT[hardfork].london && { currentBaseFee: toQuantity(BigInt(baseFeePerGas)) }),
    ...(RULES_AT[hardfork].paris && { currentRandom: prevRandao }),
    ...(RULES_AT[hardfork].cancun && { currentExcessBlobGas: toQuantity(excessFor(fuzzCase)) }),
  };
  return { env, pre: jsonAlloc(allocOf(fuzzCase.accounts)) };
}

/** The least excess blob gas that leads to the blob base fee of a case. */
function excessFor({ hardfork, blobBaseFee: wanted }: TransactionCase): bigint {
  let excess = 0n;
  while (blobBaseFee(excess, DEFAULT_BLOB_SCHEDULE[hardfork]!) < BigInt(wanted)) excess += 1n << 17n;
  return excess;
}

function jsonAlloc(alloc: GenesisAlloc): JsonAlloc {
  const accounts = [...alloc].map(([address, { balance, nonce = 0n, code = EMPTY_BYTES, storage = new Map() }]) => {
    const slots = [...storage].map(([slot, value]) => [slot, hashFromBigint(value)]);
    const quantities = { balance: toQuantity(balance), nonce: toQuantity(nonce) };
    return [address, { ...quantities, code: bytesToHex(code), storage: Object.fromEntries(slots) }];
  });
  return Object.fromEntries(accounts);
}

/** The `transaction` of a vector, which `evm` runs: `txbytes` it only decodes. */
function vectorTransaction(fuzzCase: TransactionCase) {
  const tx = transactionOf(fuzzCase);
  const quantity = (value: bigint) => toQuantity(value);
  return {
    secretKey: bytesToHex(KEYS[fuzzCase.sender]!),
    nonce: quantity(tx.nonce),
    to: tx.to ?? "",
    gasLimit: [quantity(tx.gasLimit)],
    value: [quantity(tx.value)],
    data: [bytesToHex(tx.data)],
    ...("accessList" in tx && { accessLists: [tx.accessList] }),
    ...("gasPrice" in tx
      ? { gasPrice: quantity(tx.gasPrice) }
      : { maxFeePerGas: quantity(tx.maxFeePerGas), maxPriorityFeePerGas: quantity(tx.maxPriorityFeePerGas) }),
    ...("blobVersionedHashes" in tx && {
      blobVersionedHashes: tx.blobVersionedHashes,
      maxFeePerBlobGas: quantity(tx.maxFeePerBlobGas),
    }),
    ...("authorizationList" in tx && {
      authorizationList: tx.authorizationList.map(({ chainId, address, nonce, yParity, r, s }) => ({
        ...{ chainId: quantity(chainId), address, nonce: quantity(nonce) },
        ...{ v: quantity(yParity), r: quantity(r), s: quantity(s) },
      })),
    }),
  };
}

type OwnResult = VectorResult & { readonly lines: readonly string[] };

function vectorFindings(seeds: Seeds, kind: "transactions" | "traces", { fork, evm, dir }: Options): Finding[] {
  const findings: Finding[] = [];
  for (let at = 0; at < seeds.length; at += CASES_EACH[kind]) {
    const tests: Record<string, object> = {};
    const own = new Map<number, OwnResult>();
    for (const seed of seeds.slice(at, at + CASES_EACH[kind])) {
      const fuzzCase = vectorCase(seed, fork);
      const vector = vectorOf(fuzzCase);
      const network = NETWORKS.get(fuzzCase.hardfork)!;
      const txbytes = bytesToHex(transactionOf(fuzzCase).raw);
      const trace = kind === "traces" ? textTracer() : undefined;
      const result = executeVector(vector, network, txbytes, evm, trace && { tracer: trace.hooks });
      own.set(seed, { ...result, lines: trace?.lines() ?? [] });
      const expectation = {
        hash: result.root,
        logs: result.logsHash,
        txbytes,
        indexes: { data: 0, gas: 0, value: 0 },
        ...(result.refusal && { expectException: result.refusal }),
      };
      const transaction = vectorTransaction(fuzzCase);
      tests[`seed${seed}`] = { ...vector, transaction, post: { [network]: [expectation] } };
    }
    const file = join(dir, "tests.json");
    writeFileSync(file, JSON.stringify(tests));
    const { results, traces } = runStateTests(file, kind === "traces");
    for (const [i, { name, fork: network, pass, error }] of results.entries()) {
      const seed = Number(name.slice("seed".length));
      const { refusal, lines } = own.get(seed)!;
      const difference = pass ? lineDifference(lines, traces[i] ?? []) : `${error}; here ${refusal ?? "executed"}`;
      if (difference !== undefined) findings.push({ seed, kind, text: `seed ${seed}, ${network}: ${difference}` });
    }
  }
  return findings;
}

type StateTestResult = {
  readonly name: string;
  readonly fork: string;
  readonly pass: boolean;
  readonly error?: string;
};

/** What `evm statetest` says of each test, and the lines of its trace. */
function runStateTests(file: string, withTraces: boolean) {
  const flags = withTraces ? ["--trace", "--trace.format", "json"] : [];
  const { stdout, stderr } = spawnSync(EVM, ["statetest", ...flags, file], {
    encoding: "utf8",
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  let results: StateTestResult[];
  try {
    results = JSON.parse(stdout);
  } catch (cause) {
    throw new Error(`evm statetest: ${stderr.slice(-2000)}`, { cause });
  }
  // Each test ends with a line of its state root; tests are in the order of the results.
  const traces = stderr.split(/^\{"stateRoot": .*\n/m).map(linesOf);
  return { results, traces };
}

function textTracer(): { readonly hooks: Tracer; lines(): readonly string[] } {
  const budget = createTraceBudget({ timeoutMs: TRACE_MS_MAX, charsMax: OUTPUT_BYTES_MAX });
  const logger = createJsonLogger({ enableMemory: false }, { budget });
  return { hooks: logger.hooks, lines: () => linesOf(textString(textOf(logger, NO_OUTCOME))) };
}

const linesOf = (text: string): readonly string[] => text.split("\n").filter(Boolean);

/** What the tracer saw is all that its text has. */
const NO_OUTCOME = undefined as never;

/** The first line in which two traces differ, or undefined. */
function lineDifference(ours: readonly string[], theirs: readonly string[]): string | undefined {
  const at = ours.findIndex((line, i) => normalLine(line) !== normalLine(theirs[i] ?? ""));
  if (at >= 0) return `step ${at}\n  here ${ours[at]}\n  geth ${theirs[at]}`;
  return ours.length === theirs.length ? undefined : `${ours.length} lines here, ${theirs.length} of geth`;
}

/**
 * A line without what docs/compliance.md lists: the refund of a step that cannot pay for it, the wrapped cost of a call with a gas
 * operand beyond 2^64, and the name of 0x4b, an opcode of Amsterdam.
 */
function normalLine(line: string): string {
  if (line.includes('"error":"out of gas')) {
    return line.replace(/"refund":\d+/, "").replace(/"gasCost":"0x[0-9a-f]{14,}"/, "");
  }
  return line.replaceAll("opcode 0x4b not defined", "SLOTNUM");
}

// Blocks, by `evm t8n`

function blockFindings(seeds: Seeds, options: Options): Finding[] {
  const { evm, recorded } = options;
  const findings: Finding[] = [];
  for (let at = 0; at < seeds.length; at += CASES_EACH.blocks) {
    const chunk = seeds.slice(at, at + CASES_EACH.blocks);
    const answered = answeredByGeth(chunk.map((seed) => blockInput(seed, options)));
    recorded?.push(...answered);
    for (const [i, t8nCase] of answered.entries()) {
      const seed = chunk[i]!;
      const difference = t8nDifference(t8nCase, evm) ?? listDifference(t8nCase, evm);
      if (difference !== undefined)
        findings.push({ seed, kind: "blocks", text: `seed ${seed}, ${t8nCase.fork}: ${difference}` });
    }
  }
  return findings;
}

/** As `t8nDifference`, with the transactions executed by the access list of the block, if it has one. */
function listDifference(t8nCase: T8nCase, evm: Evm): string | undefined {
  if (t8nCase.result["blockAccessListHash"] === undefined) return undefined;
  const difference = t8nDifference(t8nCase, evm, (each) => executeCaseByList(each, evm).result);
  return difference && `by its access list: ${difference}`;
}

const BLOCK_FORKS = HARDFORKS.slice(HARDFORKS.indexOf("berlin"));

/** Transactions that use the same contracts; from Prague on, mostly ones that exercise the fork's rules. */
function blockInput(seed: number, { fork, evm }: Pick<Options, "fork" | "evm">): T8nInput {
  const hardfork = fork ?? BLOCK_FORKS[seed % BLOCK_FORKS.length]!;
  const network = NETWORKS.get(hardfork)!;
  const kind = Math.floor(seed / BLOCK_FORKS.length) % 6;
  if (kind === 0 || !RULES_AT[hardfork].prague) {
    return inputOf(generateParallelCase(seed, hardfork), network, seed);
  }
  return kind > 3 ? generateBlockAtBorders(seed, network, evm) : generateBlock(seed, network);
}

function inputOf({ hardfork, alloc, header, transactions }: ParallelCase, fork: string, seed: number): T8nInput {
  const { number, timestamp, gasLimit, coinbase, difficulty, mixHash, baseFeePerGas, excessBlobGas } = header;
  const env = {
    currentCoinbase: coinbase,
    currentNumber: toQuantity(number),
    currentTimestamp: toQuantity(timestamp),
    currentGasLimit: toQuantity(gasLimit),
    ...(RULES_AT[hardfork].paris ? { currentRandom: mixHash } : { currentDifficulty: toQuantity(difficulty) }),
    ...(baseFeePerGas !== undefined && { currentBaseFee: toQuantity(baseFeePerGas) }),
    ...(excessBlobGas !== undefined && { currentExcessBlobGas: toQuantity(excessBlobGas) }),
    ...(header.parentBeaconBlockRoot && { parentBeaconBlockRoot: header.parentBeaconBlockRoot }),
    ...(RULES_AT[hardfork].shanghai && { withdrawals: [] }),
    blockHashes: Object.fromEntries(
      Array.from({ length: 256 }, (_, i) => number - 1 - i).map((at) => [
        toQuantity(at),
        at === number - 1 ? header.parentHash : hashFromBigint(BigInt(at)),
      ]),
    ),
  };
  const txs = bytesToHex(encodeRlp(transactions.map(({ tx }) => (tx.type === 0 ? decodeRlp(tx.raw) : tx.raw))));
  return { name: `seed ${seed}`, fork, alloc: jsonAlloc(alloc), env, txs };
}
