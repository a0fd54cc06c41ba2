import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { parseArgs } from "node:util";
import { NodeError } from "../../src/base/errors.ts";
import { DEFAULT_BLOB_SCHEDULE } from "../../src/base/params/blob-schedule.ts";
import type { BlobParams } from "../../src/base/params/chain-config.ts";
import { blobBaseFee } from "../../src/base/params/fees.ts";
import { GAS_PER_BLOB } from "../../src/base/params/gas.ts";
import { type Hardfork, RULES_AT } from "../../src/base/params/hardforks.ts";
import { type Address, addressToBytes } from "../../src/base/primitives/address.ts";
import { type Hash, hashFromBigint, hashToBytes } from "../../src/base/primitives/hash.ts";
import { type Hex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { keccak256Hash } from "../../src/base/primitives/keccak.ts";
import { encodeRlp } from "../../src/base/primitives/rlp.ts";
import { EMPTY_TRIE_ROOT } from "../../src/base/types/constants.ts";
import type { Log } from "../../src/base/types/receipt.ts";
import { decodeTransaction } from "../../src/base/types/transaction/decode.ts";
import { recoverSender } from "../../src/base/types/transaction/sender.ts";
import { fullGasPool } from "../../src/evm/execution/block-context.ts";
import { type ApplyMessageOptions, applyMessage } from "../../src/evm/execution/transaction/apply-message.ts";
import { messageFromTransaction } from "../../src/evm/execution/transaction/message.ts";
import type { BlockContext, Evm } from "../../src/evm/machine/evm.ts";
import { EMPTY_ACCOUNT } from "../../src/evm/state/account.ts";
import { changesOfAlloc } from "../../src/evm/state/state-changes.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { createWorldState, type WorldState } from "../../src/evm/state/world-state.ts";
import { createMemoryState } from "../support/evm/state/memory-state.ts";
import { jsonFiles } from "../support/fixtures.ts";
import { createMemoryNodes } from "../support/store/trie/memory-nodes.ts";
import { allocFromJson, type JsonAlloc, numberOf } from "./alloc.ts";
import { createEngine } from "./engines.ts";
import { codesOf } from "./exceptions.ts";
import { FORKS } from "./forks.ts";
import type { Suite } from "./suite.ts";

/** A filled state test: one transaction in many shapes on one state, with the state root each leads to. */
export type Vector = {
  readonly env: {
    readonly currentCoinbase: string;
    readonly currentDifficulty: string;
    readonly currentGasLimit: string;
    readonly currentNumber: string;
    readonly currentTimestamp: string;
    readonly currentBaseFee?: string;
    readonly currentRandom?: string;
    readonly currentExcessBlobGas?: string;
  };
  readonly pre: JsonAlloc;
  readonly post: Readonly<Record<string, readonly Expectation[]>>;
  readonly config?: { readonly blobSchedule?: Readonly<Record<string, Record<string, string>>> };
};
type Expectation = {
  readonly hash: string;
  readonly logs: string;
  readonly txbytes: string;
  readonly expectException?: string;
  readonly indexes: { readonly data: number; readonly gas: number; readonly value: number };
};

/** What one expectation came to; no `fault` is a pass. */
export type CaseResult = { readonly name: string; readonly fault?: string };

/**
 * Vectors filled under rules that never went live, with the engine that has those rules. It takes the place of ours for them;
 * with another engine chosen they are left out.
 */
const OUTDATED = [
  {
    path: "EIPTests/stEIP2537",
    reason: "filled with a draft of EIP-2537 of April 2024: other addresses and gas costs",
    engine: "evmint-eip2537-draft",
  },
] as const;

const USAGE = "usage: state-tests DIR … [--engine NAME] [--only SUBSTRING]";

/** ethereum/tests and execution-spec-tests, state tests: one transaction against the state root and the logs it leads to. */
export const run: Suite = async (args) => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { engine: { type: "string" }, only: { type: "string", default: "" } },
  });
  if (positionals.length === 0) throw new Error(USAGE);
  const evm = await createEngine(values.engine);
  const draftEngines = new Map<string, Evm>();
  if (values.engine === undefined || values.engine === "evmint") {
    for (const { path, engine } of OUTDATED) draftEngines.set(path, await createEngine(engine));
  }
  let passed = 0;
  let failed = 0;
  for (const dir of positionals) {
    const files = jsonFiles(dir);
    const outdated = OUTDATED.filter(({ path, engine }) => !draftEngines.has(path) && engine !== values.engine);
    for (const { path, reason } of outdated) {
      const count = files.filter((file) => file.includes(path)).length;
      if (count > 0) console.log(`left out: ${count} files of ${path}, ${reason}`);
    }
    for (const file of files) {
      if (outdated.some(({ path }) => file.includes(path))) continue;
      const draft = OUTDATED.find(({ path }) => file.includes(path));
      const engine = (draft && draftEngines.get(draft.path)) ?? evm;
      for (const { name, fault } of stateTestCases(file, engine, values.only)) {
        if (fault === undefined) passed++;
        else {
          failed++;
          console.log(`${relative(dir, file)} ${name}: ${fault}`);
        }
      }
    }
  }
  return { passed, failed };
};

/** Runs the cases of `file` when its path or the case's name contains `only`. */
export function* stateTestCases(file: string, evm: Evm, only = ""): Generator<CaseResult> {
  const vectors = JSON.parse(readFileSync(file, "utf8")) as Record<string, Vector>;
  for (const [test, vector] of Object.entries(vectors)) {
    if (!isStateTest(vector)) continue;
    for (const [fork, expectations] of Object.entries(vector.post)) {
      for (const expected of expectations) {
        const { data, gas, value } = expected.indexes;
        const name = `${test} ${fork} d${data} g${gas} v${value}`;
        if (!file.includes(only) && !name.includes(only)) continue;
        const fault = faultOf(vector, fork, expected, evm);
        yield fault === undefined ? { name } : { name, fault };
      }
    }
  }
}

/** Folders mix formats: a blockchain test has blocks, and `_info` alone is no test. */
function isStateTest(vector: Partial<Vector>): boolean {
  return vector.post !== undefined && vector.pre !== undefined && !("blocks" in vector);
}

/** What differs from the expectation, or undefined. */
function faultOf(vector: Vector, fork: string, expected: Expectation, evm: Evm): string | undefined {
  if (!FORKS[fork]) return "unknown fork";
  let result: VectorResult;
  try {
    result = executeVector(vector, fork, expected.txbytes, evm);
  } catch (error) {
    return `threw ${(error as Error).stack}`;
  }
  const { refusal, root, logsHash } = result;
  const { expectException } = expected;
  if ((refusal !== undefined) !== (expectException !== undefined)) {
    return `refused with ${refusal}, want ${expectException}`;
  }
  if (refusal && !codesOf(expectException).includes(refusal)) {
    return `refused with ${refusal}, want ${expectException}`;
  }
  if (root !== expected.hash) return `state root ${root}, want ${expected.hash}`;
  return logsHash === expected.logs ? undefined : `logs ${logsHash}, want ${expected.logs}`;
}

export type VectorResult = { readonly refusal: string | undefined; readonly root: Hash; readonly logsHash: Hash };

/** Executes the transaction `txbytes` in the world of a vector. */
export function executeVector(
  vector: Pick<Vector, "env" | "pre" | "config">,
  fork: string,
  txbytes: string,
  evm: Evm,
  options: ApplyMessageOptions = {},
): VectorResult {
  const hardfork = FORKS[fork]!;
  const blobParams = blobParamsOf(vector, fork, hardfork);
  const block = blockOf(vector, hardfork, blobParams);
  const alloc = allocFromJson(vector.pre);
  const state = createWorldState(createMemoryState(alloc));
  let logs: readonly Log[] = [];
  let refusal: string | undefined;
  try {
    const tx = decodeTransaction(hexToBytes(txbytes as Hex));
    const sender = recoverSender(tx, hardfork);
    const message = messageFromTransaction(tx, sender, block.baseFeePerGas);
    const blobGas = BigInt(blobParams?.max ?? 0) * GAS_PER_BLOB;
    const gasPool = fullGasPool(block.gasLimit, blobGas);
    logs = applyMessage(message, { evm, block, state, gasPool }, options).logs;
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    refusal = error.code;
  }
  if (refusal === undefined) touchCoinbase(state, block);
  return { refusal, root: stateRoot(alloc, state), logsHash: keccak256Hash(encodeRlp(logs.map(logItem))) };
}

/** State tests end with a mining reward of 0, which shows only where a touched account may stay empty. */
function touchCoinbase(state: WorldState, { coinbase, hardfork }: BlockContext): void {
  state.setAccount(coinbase, state.account(coinbase) ?? EMPTY_ACCOUNT);
  state.finalizeTransaction({
    selfDestructs: [],
    deleteEmptyTouched: RULES_AT[hardfork].spuriousDragon,
  });
}

function stateRoot(alloc: ReturnType<typeof allocFromJson>, state: WorldState): Hash {
  const nodes = createMemoryNodes();
  const trie = createStateTrie(nodes, { cacheBytes: 1 << 16 });
  const before = trie.update(EMPTY_TRIE_ROOT, changesOfAlloc(alloc));
  nodes.keep(before.nodes);
  return trie.update(before.root, state.changes()).root;
}

function logItem({ address, topics, data }: Log) {
  return [addressToBytes(address), topics.map(hashToBytes), data];
}

function blockOf({ env }: Pick<Vector, "env">, hardfork: Hardfork, blobParams?: BlobParams): BlockContext {
  return {
    hardfork,
    chainId: 1n,
    number: Number(env.currentNumber),
    timestamp: Number(env.currentTimestamp),
    coinbase: env.currentCoinbase.toLowerCase() as Address,
    gasLimit: numberOf(env.currentGasLimit),
    difficulty: numberOf(env.currentDifficulty),
    prevRandao: hashFromBigint(numberOf(env.currentRandom ?? env.currentDifficulty)),
    baseFeePerGas: RULES_AT[hardfork].london ? numberOf(env.currentBaseFee ?? "0x0a") : 0n,
    blobBaseFee: blobParams ? blobBaseFee(numberOf(env.currentExcessBlobGas ?? "0x"), blobParams) : 0n,
    blockHash: (number) => keccak256Hash(Buffer.from(String(number))),
  };
}

/** Blob limits the vector names, else those of mainnet. */
function blobParamsOf(vector: Pick<Vector, "config">, fork: string, hardfork: Hardfork): BlobParams | undefined {
  const given = vector.config?.blobSchedule?.[fork];
  if (given) {
    return {
      target: Number(given["target"]),
      max: Number(given["max"]),
      baseFeeUpdateFraction: numberOf(given["baseFeeUpdateFraction"] ?? "0x"),
    };
  }
  return RULES_AT[hardfork].cancun ? DEFAULT_BLOB_SCHEDULE[hardfork] : undefined;
}
