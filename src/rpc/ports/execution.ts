import type { FeeHistory } from "../../chain/fees/fee-history.ts";
import type { Signature } from "../../crypto/secp256k1.ts";
import type { CallOutcome } from "../../execution/call/call-many.ts";
import type { SimulatedBlock } from "../../execution/simulate/simulate.ts";
import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { StructLogConfig } from "../../tracing/struct-logger.ts";
import type { ConfigOverrides } from "../../tracing/trace-message.ts";
import type { TracerConfig } from "../../tracing/transaction-tracer.ts";
import type { Block, ExecutedBlock } from "../../types/block.ts";
import type { AccessList } from "../../types/transaction/transaction.ts";
import type { BlockOverrides, CallRequest, StateOverrides } from "../params/call-request.ts";
import type { ResolvedState } from "./resolve.ts";

/**
 * Hands a transaction in its network form to the pool: its hash once accepted.
 * @throws the decoder's, the pool's and the submission rules' rejections
 */
export type Submit = (raw: Uint8Array) => Hash | Promise<Hash>;

export type CallOptions = {
  readonly stateOverrides?: StateOverrides | undefined;
  readonly blockOverrides?: BlockOverrides | undefined;
  /** Aborted when nobody waits for the result any more. Asked for, because making one costs more than a small call. */
  readonly signal?: () => AbortSignal;
};

/** Runs messages that are no transactions, on a state nobody else sees. Rejections carry geth's texts. */
export interface CallExecutor {
  /** Return data. @throws ExecutionRevertedError, ExecutionFailedError, InvalidTransactionError */
  call(
    request: CallRequest,
    at: ResolvedState,
    options: CallOptions,
  ): Uint8Array | Promise<Uint8Array>;
  /** Gas units with which `request` succeeds. @throws as `call` */
  estimateGas(
    request: CallRequest,
    at: ResolvedState,
    options: CallOptions,
  ): bigint | Promise<bigint>;
  /**
   * Calls that see what the ones before did; each bundle is a block after the one before. One list a bundle.
   * @param txIndex on the state before this transaction of the block, in place of the one after the block
   */
  callMany(
    bundles: readonly CallBundle[],
    at: ResolvedState,
    options: Pick<CallOptions, "stateOverrides"> & { readonly txIndex?: number | undefined },
  ): readonly (readonly CallOutcome[])[] | Promise<readonly (readonly CallOutcome[])[]>;
  createAccessList(
    request: CallRequest,
    at: ResolvedState,
    options: CallOptions,
  ): AccessListResult | Promise<AccessListResult>;
}

/** `eth_simulateV1` once its options are read. */
export type SimulationRequest = {
  readonly blocks: readonly {
    readonly blockOverrides?: BlockOverrides;
    readonly stateOverrides?: StateOverrides;
    readonly calls?: readonly CallRequest[];
  }[];
  readonly validation: boolean;
  readonly traceTransfers: boolean;
};

/** Runs whole blocks nobody else sees. */
export interface Simulator {
  /** The blocks after `at`, in order. @throws SimulationError and what the rules for overrides say, with geth's texts */
  simulate(
    request: SimulationRequest,
    at: ResolvedState,
  ): readonly SimulatedBlock[] | Promise<readonly SimulatedBlock[]>;
}

/** What of a trace the caller chooses, whatever is traced. */
export type TraceRequest = StructLogConfig & {
  readonly tracer?: string;
  readonly tracerConfig?: TracerConfig;
  readonly timeoutMs?: number;
  readonly configOverrides?: ConfigOverrides;
};

/** Runs transactions again, and calls, and tells what happened in them: JSON text. */
export interface TraceExecutor {
  /** @param executed a block of the chain after genesis, which has a transaction at `index` */
  traceTransaction(
    executed: ExecutedBlock,
    index: number,
    request: TraceRequest,
  ): string | Promise<string>;
  /** One text a transaction. @param block any block whose parent is in the chain */
  traceBlock(
    block: Block,
    senders: readonly Address[] | undefined,
    request: TraceRequest,
  ): readonly string[] | Promise<readonly string[]>;
  /** @param txIndex on the state before this transaction of the block, in place of the one after the block */
  traceCall(
    call: CallRequest,
    at: ResolvedState,
    request: TraceRequest & CallOptions & { readonly txIndex?: number },
  ): string | Promise<string>;
}

/** One contract out of a compiler. */
export type CompiledContract = {
  /** Creation bytecode, 0x-prefixed */
  readonly code: string;
  readonly abi: readonly object[];
  readonly userDoc: object;
  readonly developerDoc: object;
};

/** Compiles Solidity, where the compiler is installed. */
export interface Compiler {
  /** undefined: not installed, or it does not load */
  version(): Promise<string | undefined>;
  /** Contracts by name. @throws CompilerError, CompilerBusyError */
  compile(source: string): Promise<Readonly<Record<string, CompiledContract>>>;
}

/** Computes commitments and proofs of blobs (EIP-4844, EIP-7594), which takes seconds. */
export interface BlobProver {
  /** @throws TransactionFieldsError for what is no blob */
  prove(
    blobs: readonly Uint8Array[],
    wrapperVersion: 0 | 1,
  ): Promise<{
    readonly commitments: readonly Uint8Array[];
    readonly proofs: readonly Uint8Array[];
  }>;
}

/** Calls made one after the other in one block. */
export type CallBundle = {
  readonly calls: readonly CallRequest[];
  readonly blockOverrides?: BlockOverrides | undefined;
};

export type AccessListResult = {
  readonly accessList: AccessList;
  readonly gasUsed: bigint;
  /** Why the execution failed, if it did; the list is right all the same. */
  readonly error?: string;
};

/** What fees the chain saw lately, in wei. */
export interface FeeReader {
  /** A tip with which a transaction should be mined soon. */
  suggestTip(): bigint | Promise<bigint>;
  /** `eth_feeHistory`. @throws rejections with geth's texts */
  history(
    blockCount: number,
    newest: number | "pending",
    percentiles: readonly number[],
  ): FeeHistory | Promise<FeeHistory>;
}

/** Signs with a key that has to be decrypted first; leaves the account locked. */
export type PassphraseSigner = (
  address: Address,
  passphrase: string,
  digest: Uint8Array,
) => Promise<Signature>;
