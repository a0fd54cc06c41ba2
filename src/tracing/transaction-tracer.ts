import type { BlockContext, Precompile } from "../evm/evm.ts";
import type { Tracer } from "../evm/tracer.ts";
import type { MessageResult } from "../execution/transaction/apply-message.ts";
import type { TransactionMessage } from "../execution/transaction/message.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { StateChanges, StateReader } from "../state/reader.ts";
import type { TraceBudget } from "./trace-budget.ts";
import type { TraceText } from "./trace-text.ts";

/** What a tracer may know of the transaction or call before it begins. */
export type TracedTransaction = {
  readonly message: TransactionMessage;
  readonly block: BlockContext;
  readonly precompiles: ReadonlyMap<Address, Precompile>;
  /** The state before it; stays that state. */
  readonly state: StateReader;
  /** Logs of the transactions before it in the block. */
  readonly logsBefore: number;
  /** For the text, counted while it grows. */
  readonly budget: Pick<TraceBudget, "take" | "assertInTime">;
  /** Absent for a call. */
  readonly place?: { readonly blockHash: Hash; readonly hash: Hash; readonly index: number };
};

/** How it ended. */
export type TracedOutcome = {
  readonly result: MessageResult;
  /** The state after it. */
  readonly after: StateReader;
  /** What lies between; only for a tracer that `needsChanges`. */
  changes(): StateChanges;
};

/** Watches one transaction. */
export type TransactionTracer = {
  readonly hooks: Tracer;
  /** `result` calls `changes`; others cost less. */
  readonly needsChanges?: boolean;
  /** JSON of what was seen; asked for once, when the transaction is over. */
  result(outcome: TracedOutcome): TraceText;
  /** Gives back what the tracer holds; called once at the end, whatever happened. */
  dispose?(): void;
};

/** Makes a tracer of its `tracerConfig`. */
export type TracerFactory = (config: TracerConfig, traced: TracedTransaction) => TransactionTracer;

/** `tracerConfig` as JSON gave it. */
export type TracerConfig = Readonly<Record<string, unknown>>;
