import type { Hash } from "../../base/primitives/hash.ts";
import type { CancelToken } from "../../base/threads/cancel-token.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { Block } from "../../base/types/block.ts";
import type { AccessList, BlobSidecar } from "../../base/types/transaction/transaction.ts";
import type { PayloadRequest } from "../../consensus/block-tester.ts";
import type { ContextHeader } from "../../evm/execution/block-context.ts";
import type { CallArguments } from "../../evm/execution/call/call-arguments.ts";
import type { CallArgumentsBundle, CallOutcome } from "../../evm/execution/call/call-many.ts";
import type { BlockOverrides, StateOverrides } from "../../evm/execution/call/overrides.ts";
import type { SimulatedBlock } from "../../evm/execution/simulate/simulate.ts";
import type { BlockRequest } from "../../evm/execution/simulate/simulate-plan.ts";
import type { TraceText } from "../../evm/tracing/json-writer.ts";
import type { StructLogConfig } from "../../evm/tracing/struct-logger.ts";
import type { ConfigOverrides } from "../../evm/tracing/trace-message.ts";
import type { TracerConfig } from "../../evm/tracing/tracer-config.ts";
import type { BlockSelector } from "./block-selector.ts";

/**
 * Runs messages, blocks and tracers on states of the chain; nothing is stored but by `commitBlock`. It runs where the state is, because
 * an EVM cannot wait for a slot. Rejections carry geth's texts. Plain data only, as `ChainView`.
 *
 * Each method that takes `at` throws UnknownBlockError, BlockNotCanonicalError or PendingUnavailableError for the selector. Where another
 * thread executes, each also throws ExecutionAbortedError, TooManyError, and RequestTimeoutError when `cancel` is aborted before it began.
 */
export interface ExecutionPort {
  /** Return data. @throws ExecutionRevertedError, ExecutionFailedError, InvalidTransactionError */
  call(input: CallInput): MaybePromise<Uint8Array>;
  /** Gas units with which the call succeeds. @throws as `call` */
  estimateGas(input: CallInput & InBlock): MaybePromise<bigint>;
  createAccessList(input: CallInput & InBlock): MaybePromise<AccessListResult>;
  /** Each call sees the effects of the calls before it; each bundle is a block after the one before. One list per bundle. */
  callMany(
    input: Cancellable & {
      readonly bundles: readonly CallArgumentsBundle[];
      readonly at: BlockSelector;
      readonly request: Pick<CallOverrides, "stateOverrides"> & BeforeTransaction;
    },
  ): MaybePromise<readonly (readonly CallOutcome[])[]>;
  /** The blocks after `at`, in order. @throws SimulationError and the overrides' rejections */
  simulate(
    input: Cancellable & { readonly request: SimulationRequest; readonly at: BlockSelector },
  ): MaybePromise<readonly SimulatedBlock[]>;
  /** The trace. @throws NotTraceableError, InvalidTracerError, TracingTimeoutError */
  traceTransaction(input: TraceInput & { readonly hash: Hash }): MaybePromise<TraceText>;
  /**
   * One trace per transaction of a block of the chain.
   * @throws NotTraceableError for genesis and for a block that is unknown
   */
  traceBlock(input: TraceInput & { readonly at: number | Hash }): MaybePromise<readonly TransactionTrace[]>;
  /** JSON of the list that `traceBlock` would give: one text costs a fraction of many. @throws as `traceBlock` */
  traceBlockText(input: TraceInput & { readonly at: number | Hash }): MaybePromise<TraceText>;
  /** JSON of the frames of all transactions of a block, as trace_block lists them. @throws as `traceBlock` */
  traceBlockFrames(input: Cancellable & { readonly at: number | Hash }): MaybePromise<TraceText>;
  /** As `traceBlockText`, of a block given as RLP whose parent is in the chain. */
  traceRawBlock(input: TraceInput & { readonly rlp: Uint8Array }): MaybePromise<TraceText>;
  traceCall(input: StateTraceInput & { readonly args: CallArguments }): MaybePromise<TraceText>;
  /** Traces of the calls of each bundle; calls and bundles follow each other as in `callMany`. */
  traceBundles(
    input: StateTraceInput & { readonly bundles: readonly CallArgumentsBundle[] },
  ): MaybePromise<readonly (readonly TraceText[])[]>;
  /** Traces of calls; every call sees the effects of those before it. */
  traceCalls(
    input: TraceInput & { readonly calls: readonly TracedCall[]; readonly at: BlockSelector },
  ): MaybePromise<readonly TraceText[]>;
  /**
   * As `traceCall`, of a signed transaction under all rules of a transaction.
   * @throws TracingFailedError where it is not valid on that state, and the decoder's rejections
   */
  traceRawTransaction(
    input: TraceInput & { readonly raw: Uint8Array; readonly at: BlockSelector },
  ): MaybePromise<TraceText>;
  /**
   * JSON of what executing a block of the chain without a state needs; the block has a parent.
   * @throws UnknownBlockError, DebugError where its state was also set by other means than its body, TraceTooLargeError, TracingTimeoutError
   */
  executionWitness(input: Cancellable & { readonly hash: Hash }): MaybePromise<TraceText>;
  /** Builds a block on the head and stores nothing. @throws PayloadAttributesError, and the first invalid transaction's rejection */
  buildBlock(request: PayloadRequest): MaybePromise<BuiltPayload>;
  /** Builds a block and makes it the head; its hash. @throws as `buildBlock` */
  commitBlock(request: PayloadRequest): MaybePromise<Hash>;
}

type Cancellable = { readonly cancel?: CancelToken | undefined };
type CallInput = Cancellable & {
  readonly args: CallArguments;
  readonly at: BlockSelector;
  readonly overrides: CallOverrides;
};
export type InBlock = {
  /** It executes in this block instead of the one that `at` selects. */
  readonly inBlock?: ContextHeader | undefined;
  /** BASEFEE is the block's, also where no price is given. */
  readonly keepsFees?: boolean;
};
type TraceInput = Cancellable & { readonly request: TraceRequest };
type StateTraceInput = TraceInput & {
  readonly at: BlockSelector;
  readonly request: CallOverrides & BeforeTransaction;
};
/** On the state before this transaction of the block instead of the state after the block. */
type BeforeTransaction = { readonly txIndex?: number | undefined };

/** The part that reads the chain and changes nothing: what any thread with a view of the store can do. */
export type ExecutionReads = Omit<ExecutionPort, "buildBlock" | "commitBlock">;

export type CallOverrides = {
  readonly stateOverrides?: StateOverrides | undefined;
  readonly blockOverrides?: BlockOverrides | undefined;
};

type AccessListResult = {
  readonly accessList: AccessList;
  readonly gasUsed: bigint;
  /** Why the execution failed, if it did; the list is valid anyway. */
  readonly error?: string;
};

/** `eth_simulateV1` without how its result is shown. */
type SimulationRequest = {
  readonly blocks: readonly BlockRequest[];
  readonly validation: boolean;
  readonly traceTransfers: boolean;
};

/** The options of a trace, whatever is traced. */
export type TraceRequest = StructLogConfig & {
  readonly tracer?: string;
  readonly tracerConfig?: TracerConfig;
  readonly timeoutMs?: number;
  readonly configOverrides?: ConfigOverrides;
  /** Writes the lines of `debug_standardTraceBlockToFile`, which are no JSON value, instead of running a tracer. */
  readonly asLines?: true;
};

/** A call with the configuration of its tracer. */
export type TracedCall = { readonly args: CallArguments; readonly tracerConfig: TracerConfig };

/** `error`: why the caller's script could not make it. */
export type TransactionTrace = { readonly txHash: Hash } & (
  | { readonly result: TraceText }
  | { readonly error: string }
);

/** A block that is not part of the chain, as `engine_getPayload` describes one. */
export type BuiltPayload = {
  readonly block: Block;
  /** EIP-7685 */
  readonly requests: readonly Uint8Array[];
  /** RLP of the block access list; present from Amsterdam. */
  readonly accessList?: Uint8Array | undefined;
  /** What the fee recipient gets for gas, in wei. */
  readonly value: bigint;
  /** Of its blob transactions, as far as they are known. */
  readonly sidecars: readonly BlobSidecar[];
};
