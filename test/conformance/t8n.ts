import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { blobParamsAt } from "../../src/base/params/blob-schedule.ts";
import type { ChainConfig } from "../../src/base/params/chain-config.ts";
import { nextBaseFee, nextExcessBlobGas } from "../../src/base/params/fees.ts";
import { type Hardfork, hardforkAt, RULES_AT } from "../../src/base/params/hardforks.ts";
import { type Address, addressToBytes, ZERO_ADDRESS } from "../../src/base/primitives/address.ts";
import { type Hash, hashFromBigint, hashToBytes, ZERO_HASH } from "../../src/base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { keccak256Hash } from "../../src/base/primitives/keccak.ts";
import { toQuantity } from "../../src/base/primitives/quantity.ts";
import { decodeRlp, encodeRlp, type RlpItem } from "../../src/base/primitives/rlp.ts";
import type { Withdrawal } from "../../src/base/types/block.ts";
import { decodeBlockAccessList, encodeBlockAccessList } from "../../src/base/types/block-access-list.ts";
import { encodeWithdrawal } from "../../src/base/types/block-codec.ts";
import { EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from "../../src/base/types/constants.ts";
import type { Header } from "../../src/base/types/header.ts";
import type { Receipt } from "../../src/base/types/receipt.ts";
import { encodeReceipt } from "../../src/base/types/receipt-codec.ts";
import { InvalidEncodingError } from "../../src/base/types/rlp-struct.ts";
import { TransactionRejection } from "../../src/base/types/transaction/codec.ts";
import { recoverSender } from "../../src/base/types/transaction/sender.ts";
import type { Transaction } from "../../src/base/types/transaction/transaction.ts";
import {
  BlockExecution,
  type BlockParent,
  blockEnvOf,
  type ExecutionModules,
} from "../../src/evm/execution/block/block-execution.ts";
import { ListedBlock } from "../../src/evm/execution/block/speculative-block.ts";
import type { OpenHeader } from "../../src/evm/execution/block-context.ts";
import { ListedChanges } from "../../src/evm/execution/parallel/listed-state.ts";
import { RecordedExecution } from "../../src/evm/execution/parallel/recorded-execution.ts";
import type { RecordedExecutions } from "../../src/evm/execution/parallel/speculation.ts";
import { nextDifficulty } from "../../src/evm/execution/validation/validate-header.ts";
import type { Evm } from "../../src/evm/machine/evm.ts";
import { changesOfAlloc } from "../../src/evm/state/state-changes.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { orderedTrieRoot } from "../../src/store/trie/ordered-trie-root.ts";
import { createMemoryState } from "../support/evm/state/memory-state.ts";
import { createMemoryNodes } from "../support/store/trie/memory-nodes.ts";
import { allocFromJson, type JsonAlloc, type JsonNumber, numberOf } from "./alloc.ts";
import { createEngines } from "./engines.ts";
import { configOfNetwork } from "./networks.ts";
import type { Suite } from "./suite.ts";
import { type T8nTransaction, transactionReaders } from "./t8n-transactions.ts";

/** One block in the form of go-ethereum's `evm t8n`: its three inputs, and what it answered. */
export type T8nCase = {
  readonly name: string;
  /** As `--state.fork` */
  readonly fork?: string;
  readonly alloc: JsonAlloc;
  readonly env: T8nEnv;
  /** JSON, or the RLP list of signed transactions */
  readonly txs: readonly T8nTransaction[] | string;
  /** RLP list of the transactions that are in the block */
  readonly body?: string;
  readonly result: Readonly<Record<string, unknown>>;
};

/** As `--input.env`. Ommers and rewards are not supported: both sides run without. */
export type T8nEnv = {
  readonly currentCoinbase: string;
  readonly currentGasLimit: JsonNumber;
  readonly currentNumber: JsonNumber;
  readonly currentTimestamp: JsonNumber;
  readonly currentRandom?: JsonNumber;
  readonly currentDifficulty?: JsonNumber;
  readonly parentDifficulty?: JsonNumber;
  readonly parentTimestamp?: JsonNumber;
  readonly parentUncleHash?: string;
  readonly currentBaseFee?: JsonNumber;
  readonly parentBaseFee?: JsonNumber;
  readonly parentGasUsed?: JsonNumber;
  readonly parentGasLimit?: JsonNumber;
  readonly currentExcessBlobGas?: JsonNumber;
  readonly parentExcessBlobGas?: JsonNumber;
  readonly parentBlobGasUsed?: JsonNumber;
  readonly parentBeaconBlockRoot?: string;
  readonly blockHashes?: Readonly<Record<string, string>>;
  readonly withdrawals?: readonly Readonly<Record<"index" | "validatorIndex" | "address" | "amount", string>>[];
  readonly slotNumber?: JsonNumber;
};

const USAGE = "usage: t8n FILE … [--engine NAME] [--only SUBSTRING]";
const DEFAULT_FORK = "Amsterdam";

/** Blocks with what `evm t8n` of go-ethereum makes of them: state, receipts, requests, access list, rejected transactions. */
export const run: Suite = async (args) => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { engine: { type: "string", default: "evmint" }, only: { type: "string", default: "" } },
  });
  if (positionals.length === 0) throw new Error(USAGE);
  const evm = await createEngines(values.engine);
  let passed = 0;
  let failed = 0;
  for (const file of positionals) {
    for (const t8nCase of readT8nCases(file)) {
      if (!t8nCase.name.includes(values.only)) continue;
      const difference = t8nDifference(t8nCase, evm);
      if (difference === undefined) passed++;
      else {
        failed++;
        console.log(`${t8nCase.name}: ${difference}`);
      }
    }
  }
  return { passed, failed };
};

/** The cases of a file, which may be compressed. @throws Error that names the file */
export function readT8nCases(file: string): readonly T8nCase[] {
  try {
    const bytes = readFileSync(file);
    const cases: unknown = JSON.parse((file.endsWith(".br") ? brotliDecompressSync(bytes) : bytes).toString());
    if (!Array.isArray(cases)) throw new Error("not a JSON list of cases");
    for (const [index, each] of cases.entries()) assertCase(each, index);
    return cases;
  } catch (cause) {
    throw new Error(`${file}: ${(cause as Error).message}`, { cause });
  }
}

/** Writes a file for `readT8nCases`: compressed if its name ends in `.br`. */
export function writeT8nCases(file: string, cases: readonly T8nCase[]): void {
  const text = JSON.stringify(cases);
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  writeFileSync(file, file.endsWith(".br") ? brotliCompressSync(text, { params }) : text);
}

function assertCase(value: unknown, index: number): asserts value is T8nCase {
  const members = (of: unknown) => (typeof of === "object" && of !== null ? (of as Record<string, unknown>) : {});
  const missing = ["name", "alloc", "env", "txs", "result"].find((name) => members(value)[name] === undefined);
  if (missing) throw new Error(`case ${index} has no ${missing}`);
  const { result } = members(value);
  const unknown = ["stateRoot", "receiptsRoot", "gasUsed"].find((name) => members(result)[name] === undefined);
  if (unknown) throw new Error(`the result of case ${index} has no ${unknown}`);
}

/** The first member in which our block differs from `evm t8n`'s, and the names of the others; undefined if the blocks are equal. */
export function t8nDifference(t8nCase: T8nCase, evm: Evm, execute = executeCase): string | undefined {
  let own: ReturnType<typeof executeCase>;
  try {
    own = execute(t8nCase, evm);
  } catch (error) {
    return `threw ${(error as Error).stack}`;
  }
  const expected = expectedOf(t8nCase);
  const differing = Object.entries(own).flatMap(([name, value]) => {
    const difference = firstDifference(value, expected[name], name);
    return difference === undefined ? [] : [{ name, difference }];
  });
  const [first, ...others] = differing;
  if (first === undefined) return undefined;
  const also = others.length === 0 ? "" : `\n  also: ${others.map(({ name }) => name).join(", ")}`;
  return first.difference + also;
}

function expectedOf({ body, result }: T8nCase): Readonly<Record<string, unknown>> {
  const { blockAccessList: list, rejected = [] } = result;
  return {
    ...result,
    rejected: (rejected as { index: number; error: string }[]).map(({ index, error }) => ({
      index,
      ...(!isOwnText(error) && { error }),
    })),
    ...(typeof list === "string" && { blockAccessList: hexTree(decodeRlp(hexToBytes(list))) }),
    body,
  };
}

/** Texts of `evm t8n` itself, which counts blobs before it looks at a transaction, and of its decoding of lists. */
function isOwnText(error: string): boolean {
  return ["blob gas (", "blob tx used but", "rlp: "].some((beginning) => error.startsWith(beginning));
}

/** The block of a case, before it is executed. */
type ListedCase = { readonly header: OpenHeader; readonly parent: BlockParent; readonly modules: ExecutionModules };

/**
 * As `executeCase`, with each transaction executed on the state that the access list of the block gives, the last one first.
 * @throws Error where the state was another one when the block came to a transaction
 */
export function executeCaseByList(t8nCase: Omit<T8nCase, "result">, evm: Evm) {
  const { blockAccessList, body } = executeCase(t8nCase, evm);
  const list = new ListedChanges(decodeBlockAccessList(encodeRlp(bytesTree(blockAccessList!))));
  const transactions = transactionReaders(body).map((read) => read());
  const counts = { applied: 0, conflicts: 0 };
  const result = executeCase(t8nCase, evm, ({ header, parent, modules }) => {
    const block = new ListedBlock(header, list, parent, modules);
    for (const [position, tx] of [...transactions.entries()].reverse()) {
      block.execute(tx, recoverSender(tx, "amsterdam"), position);
    }
    const batch = block.take();
    const starts = new Map(batch.hashes.map((hash, i) => [hash, batch.starts[i]!]));
    return {
      evmOf(_, hash, own) {
        const start = starts.get(hash);
        return start === undefined ? undefined : new RecordedExecution(batch, start, own, counts);
      },
    };
  });
  if (counts.conflicts > 0) throw new Error(`${counts.conflicts} conflicts`);
  return { result, applied: counts.applied };
}

/** Executes the block of a case and gives it as `evm t8n` would: in the order in which a difference says most. */
export function executeCase(
  { alloc: json, env, fork = DEFAULT_FORK, txs }: Omit<T8nCase, "result">,
  evm: Evm,
  recordedFor?: (block: ListedCase) => RecordedExecutions,
) {
  const config = configOfNetwork(fork);
  if (config === undefined) throw new Error(`unknown fork ${fork}`);
  const header = headerOf(env, config);
  const nodes = createMemoryNodes();
  const stateTrie = createStateTrie(nodes, { cacheBytes: 1 << 16 });
  const alloc = allocFromJson(json);
  const update = stateTrie.update(EMPTY_TRIE_ROOT, changesOfAlloc(alloc));
  nodes.keep(update.nodes);
  const hashes = blockHashesOf(env);
  const parent: BlockParent = {
    header: { stateRoot: update.root } as Header,
    state: createMemoryState(alloc),
    blockHash: (number) => hashes.get(number),
  };
  // Without the difficulty nobody is rewarded, as `evm t8n` does by default; the opcode has it from the context.
  const unrewarded = { ...header, difficulty: 0n };
  // Without any hashes `evm t8n` stores none; where that of the parent is not among them, it stores 0.
  const blockEnv = { ...blockEnvOf(header, parent, config), hasParentHash: env.blockHashes !== undefined };
  const recorded = recordedFor?.({ header: unrewarded, parent, modules: { config, evm, stateTrie } });
  const execution = new BlockExecution(blockEnv, unrewarded, { config, evm, stateTrie, recorded });

  const transactions: Transaction[] = [];
  const rejected: { index: number; error: string }[] = [];
  for (const [index, read] of transactionReaders(txs).entries()) {
    try {
      const tx = read();
      execution.addTransaction(tx);
      transactions.push(tx);
    } catch (error) {
      // Of other types than that, an error of the encoding is the transaction's, and every error of an execution a fault.
      if (!(error instanceof TransactionRejection || error instanceof InvalidEncodingError)) throw error;
      rejected.push({ index, error: error.message });
    }
  }
  const withdrawals = RULES_AT[execution.context.hardfork].shanghai ? withdrawalsOf(env) : undefined;
  const outcome = execution.finish({ withdrawals });
  const { receipts } = outcome;
  return {
    rejected,
    receipts: receipts.map((receipt, index) => receiptJson(receipt, transactions[index]!, index)),
    gasUsed: toQuantity(outcome.gasUsed),
    logsHash: logsHashOf(receipts),
    logsBloom: bytesToHex(outcome.logsBloom),
    ...(header.excessBlobGas !== undefined && {
      blobGasUsed: toQuantity(outcome.blobGasUsed),
      currentExcessBlobGas: toQuantity(header.excessBlobGas),
    }),
    ...(header.baseFeePerGas !== undefined && { currentBaseFee: toQuantity(header.baseFeePerGas) }),
    ...(outcome.requestsHash && {
      requests: outcome.requests.map(bytesToHex),
      requestsHash: outcome.requestsHash,
    }),
    ...(outcome.accessList && {
      blockAccessList: hexTree(decodeRlp(encodeBlockAccessList(outcome.accessList))),
      blockAccessListHash: outcome.blockAccessListHash,
    }),
    stateRoot: outcome.trie.root,
    txRoot: orderedTrieRoot(transactions.map(({ raw }) => raw)),
    receiptsRoot: orderedTrieRoot(receipts.map(encodeReceipt)),
    ...(withdrawals && { withdrawalsRoot: orderedTrieRoot(withdrawals.map(encodeWithdrawal)) }),
    body: bytesToHex(encodeRlp(transactions.map(({ type, raw }) => (type === 0 ? decodeRlp(raw) : raw)))),
  };
}

function headerOf(env: T8nEnv, config: ChainConfig): OpenHeader {
  const number = Number(numberOf(env.currentNumber));
  const timestamp = Number(numberOf(env.currentTimestamp));
  const { currentRandom, parentBeaconBlockRoot } = env;
  const difficulty = difficultyOf(env, config, number, timestamp);
  const hardfork = hardforkAt(config, { number, timestamp, difficulty });
  return {
    parentHash: blockHashesOf(env).get(number - 1) ?? ZERO_HASH,
    number,
    timestamp,
    coinbase: env.currentCoinbase.toLowerCase() as Address,
    gasLimit: numberOf(env.currentGasLimit),
    difficulty,
    mixHash: hashFromBigint(numberOf(currentRandom ?? "0x")),
    ...(RULES_AT[hardfork].london && { baseFeePerGas: baseFeeOf(env, config) }),
    ...(RULES_AT[hardfork].cancun && {
      excessBlobGas: excessBlobGasOf(env, config, hardfork),
      parentBeaconBlockRoot: (parentBeaconBlockRoot ?? ZERO_HASH).toLowerCase() as Hash,
    }),
    ...(RULES_AT[hardfork].amsterdam && { slotNumber: numberOf(env.slotNumber ?? 0) }),
  };
}

function difficultyOf(env: T8nEnv, config: ChainConfig, number: number, timestamp: number): bigint {
  if (config.terminalTotalDifficulty === 0n) return 0n;
  if (env.currentDifficulty !== undefined) return numberOf(env.currentDifficulty);
  const parent = {
    number: number - 1,
    timestamp: Number(numberOf(env.parentTimestamp ?? 0)),
    difficulty: numberOf(env.parentDifficulty ?? 0),
    sha3Uncles: env.parentUncleHash ?? EMPTY_UNCLES_HASH,
  };
  return nextDifficulty(timestamp, parent as Header, config);
}

function baseFeeOf(env: T8nEnv, config: ChainConfig): bigint {
  if (env.currentBaseFee !== undefined) return numberOf(env.currentBaseFee);
  const parent = {
    gasLimit: numberOf(env.parentGasLimit ?? 0),
    gasUsed: numberOf(env.parentGasUsed ?? 0),
    baseFeePerGas: numberOf(env.parentBaseFee ?? 0),
  };
  return nextBaseFee(parent, config);
}

function excessBlobGasOf(env: T8nEnv, config: ChainConfig, hardfork: Hardfork): bigint {
  if (env.currentExcessBlobGas !== undefined) return numberOf(env.currentExcessBlobGas);
  const parent = {
    excessBlobGas: numberOf(env.parentExcessBlobGas ?? 0),
    blobGasUsed: numberOf(env.parentBlobGasUsed ?? 0),
    baseFeePerGas: numberOf(env.parentBaseFee ?? 0),
  };
  const params = blobParamsAt(config, Number(numberOf(env.currentTimestamp)))!;
  return nextExcessBlobGas(parent, params, RULES_AT[hardfork].osaka);
}

function blockHashesOf({ blockHashes = {} }: T8nEnv): ReadonlyMap<number, Hash> {
  return new Map(
    Object.entries(blockHashes).map(([number, hash]) => [Number(numberOf(number)), hash.toLowerCase() as Hash]),
  );
}

function withdrawalsOf({ withdrawals = [] }: T8nEnv): readonly Withdrawal[] {
  return withdrawals.map(({ index, validatorIndex, address, amount }) => ({
    index: numberOf(index),
    validatorIndex: numberOf(validatorIndex),
    address: address.toLowerCase() as Address,
    amount: numberOf(amount),
  }));
}

/** The members that say something about the execution; `evm t8n` fills those of the block with constants. */
function receiptJson(receipt: Receipt, tx: Transaction, index: number) {
  const { type, status, cumulativeGasUsed, gasUsed, logsBloom, logs, contractAddress, effectiveGasPrice } = receipt;
  return {
    type: toQuantity(type),
    transactionHash: tx.hash,
    transactionIndex: toQuantity(index),
    ...(status !== undefined && { status: toQuantity(status) }),
    ...(receipt.postState !== undefined && { root: receipt.postState }),
    gasUsed: toQuantity(gasUsed),
    cumulativeGasUsed: toQuantity(cumulativeGasUsed),
    effectiveGasPrice: toQuantity(effectiveGasPrice),
    contractAddress: contractAddress ?? ZERO_ADDRESS,
    ...(receipt.blobGasUsed !== undefined && { blobGasUsed: toQuantity(receipt.blobGasUsed) }),
    ...(receipt.blobGasPrice !== undefined && { blobGasPrice: toQuantity(receipt.blobGasPrice) }),
    logs: logs.map(({ address, topics, data }) => ({ address, topics, data: bytesToHex(data) })),
    logsBloom: bytesToHex(logsBloom),
  };
}

function logsHashOf(receipts: readonly Receipt[]): Hash {
  const items = receipts.flatMap(({ logs }) =>
    logs.map(({ address, topics, data }) => [addressToBytes(address), topics.map(hashToBytes), data]),
  );
  return keccak256Hash(encodeRlp(items));
}

type HexTree = string | readonly HexTree[];

function hexTree(item: RlpItem): HexTree {
  return item instanceof Uint8Array ? bytesToHex(item) : item.map(hexTree);
}

function bytesTree(tree: HexTree): RlpItem {
  return typeof tree === "string" ? hexToBytes(tree) : tree.map(bytesTree);
}

/** Where `own` first has another value than `expected`; members that `expected` lacks are not compared. */
function firstDifference(own: unknown, expected: unknown, path: string): string | undefined {
  if (Array.isArray(own) && Array.isArray(expected)) {
    for (let i = 0; i < Math.min(own.length, expected.length); i++) {
      const difference = firstDifference(own[i], expected[i], `${path}[${i}]`);
      if (difference !== undefined) return difference;
    }
    return firstDifference(own.length, expected.length, `${path}.length`);
  }
  if (typeof own === "object" && own !== null && typeof expected === "object" && expected !== null) {
    for (const [name, value] of Object.entries(own)) {
      const member = (expected as Record<string, unknown>)[name];
      const difference = firstDifference(value, member, `${path}.${name}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  if ((expected ?? undefined) === undefined || isSame(own, expected)) return undefined;
  return `${path}\n  here ${JSON.stringify(own)}\n  t8n  ${JSON.stringify(expected)}`;
}

/** Hex in any case of letters. */
function isSame(own: unknown, expected: unknown): boolean {
  if (typeof own === "string" && typeof expected === "string" && /^0x[\da-f]*$/.test(own)) {
    return own === expected.toLowerCase();
  }
  return own === expected;
}
