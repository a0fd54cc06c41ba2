import type { Signature } from "../crypto/secp256k1.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { AccessList } from "../types/transaction/transaction.ts";
import type { BlockOverrides, CallRequest, StateOverrides } from "./call-request.ts";
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
  createAccessList(
    request: CallRequest,
    at: ResolvedState,
    options: CallOptions,
  ): AccessListResult | Promise<AccessListResult>;
}

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

export type FeeHistory = {
  readonly oldestBlock: number;
  /** One list a block, one entry a percentile; absent when no percentiles were asked for. */
  readonly reward?: readonly (readonly bigint[])[];
  /** One more than there are blocks: the next block's stands last. */
  readonly baseFeePerGas: readonly bigint[];
  readonly gasUsedRatio: readonly number[];
  readonly baseFeePerBlobGas: readonly bigint[];
  readonly blobGasUsedRatio: readonly number[];
};

/** Signs with a key that has to be decrypted first; leaves the account locked. */
export type PassphraseSigner = (
  address: Address,
  passphrase: string,
  digest: Uint8Array,
) => Promise<Signature>;
