import type { Hash } from "../../../base/primitives/hash.ts";
import type { BlockContext, ExecutionResult } from "../../machine/evm.ts";
import type { Halt } from "../../machine/halts.ts";

/**
 * Executions of transactions as another thread recorded them: what each was called with, what it read, what it wrote, and how it ended. Plain data in
 * a few arrays, because it crosses threads and because an object for each read would cost the chain's thread as much as executing.
 *
 *     execution: caller ‖ target ‖ gas ‖ state gas ‖ gas price ‖ value ‖ list of warm addresses
 *                ‖ list of reads ‖ list of writes ‖ list of accesses
 *                ‖ outcome ‖ halt + 1 ‖ gas left ‖ state gas left ‖ gas spilled ‖ refund ‖ return data ‖ list of logs ‖ list of self-destructs
 *     access:    address ‖ 0, or address ‖ 1 ‖ slot
 *     log:       address ‖ list of topics ‖ data
 *     list:      length ‖ elements
 *     data:      begin ‖ end, in `bytes`
 *
 * Every field is a word: a number, or the index of a name or a value.
 */
export type RecordedBatch = {
  /** The block in which they were executed; undefined where nothing was recorded. */
  readonly block: RecordedBlock | undefined;
  /** Transactions with a recorded execution. */
  readonly hashes: readonly Hash[];
  /** Where in `words` the execution of each begins. */
  readonly starts: Uint32Array;
  readonly words: Uint32Array;
  /** Addresses, slots, hashes, each once. */
  readonly names: readonly string[];
  readonly values: readonly bigint[];
  readonly bytes: Uint8Array;
  readonly halts: readonly Halt[];
};

/** All that an execution sees of its block but the hashes of those before, which the parent's hash gives. */
export type RecordedBlock = Omit<BlockContext, "blockHash">;

const BLOCK_FIELDS: Readonly<Record<keyof RecordedBlock, true>> = {
  hardfork: true,
  chainId: true,
  number: true,
  timestamp: true,
  numberWord: true,
  timestampWord: true,
  coinbase: true,
  gasLimit: true,
  difficulty: true,
  prevRandao: true,
  baseFeePerGas: true,
  blobBaseFee: true,
  slotNumber: true,
  codeSizeMax: true,
  noTxGasLimit: true,
  devRules: true,
};
const FIELDS = Object.keys(BLOCK_FIELDS) as (keyof RecordedBlock)[];

export function recordedBlock(block: BlockContext): RecordedBlock {
  const { blockHash: _, ...fields } = block;
  return fields;
}

export function isSameBlock(a: RecordedBlock, b: RecordedBlock): boolean {
  for (const field of FIELDS) if (a[field] !== b[field]) return false;
  return true;
}

/** The kinds of reads, and their fields. */
export const read = {
  /** address: the account does not exist */
  noAccount: 0,
  /** address ‖ nonce ‖ balance ‖ code hash */
  account: 1,
  /** address ‖ code hash: the sender's account; its other fields had no effect on the execution */
  sender: 2,
  /** address ‖ slot ‖ value */
  slot: 3,
  /** address ‖ 1 where any slot is not 0 */
  hasStorage: 4,
} as const;

/** What a write did, and its fields. */
export const write = {
  /** data */
  code: 0,
  /** address ‖ nonce ‖ balance ‖ code hash */
  account: 1,
  /** address ‖ value that its balance lost */
  sender: 2,
  /** address */
  touch: 3,
  /** address ‖ slot ‖ value */
  slot: 4,
} as const;

export const OUTCOMES = ["success", "revert", "halt"] as const satisfies readonly ExecutionResult["outcome"][];
