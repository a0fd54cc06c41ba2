import { NodeError } from "../../../base/errors.ts";
import { blobParamsAt } from "../../../base/params/blob-schedule.ts";
import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { blobBaseFee } from "../../../base/params/fees.ts";
import { type Address, ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import type { Header } from "../../../base/types/header.ts";
import type { TransactionFields } from "../../../base/types/transaction/codec.ts";
import type { AccessList, Authorization } from "../../../base/types/transaction/transaction.ts";
import type { TransactionMessage } from "../transaction/message.ts";

/** A call or unsigned transaction as a caller describes it, geth's `TransactionArgs`. Wei and gas units; `to` null or absent creates. */
export type CallArguments = {
  readonly from?: Address | undefined;
  readonly to?: Address | null | undefined;
  readonly gas?: bigint | undefined;
  readonly gasPrice?: bigint | undefined;
  readonly maxFeePerGas?: bigint | undefined;
  readonly maxPriorityFeePerGas?: bigint | undefined;
  readonly value?: bigint | undefined;
  readonly nonce?: bigint | undefined;
  readonly data?: Uint8Array | undefined;
  /** Wins over its older name `data`. */
  readonly input?: Uint8Array | undefined;
  readonly accessList?: AccessList | undefined;
  readonly chainId?: bigint | undefined;
  readonly maxFeePerBlobGas?: bigint | undefined;
  readonly blobVersionedHashes?: readonly Hash[] | undefined;
  readonly blobs?: readonly Uint8Array[] | undefined;
  readonly commitments?: readonly Uint8Array[] | undefined;
  readonly proofs?: readonly Uint8Array[] | undefined;
  readonly authorizationList?: readonly Authorization[] | undefined;
};

/** Calldata or init code of `args`. */
export function calldataOf({ input, data }: CallArguments): Uint8Array {
  return input ?? data ?? EMPTY_BYTES;
}

/** Arguments that contradict each other or the chain. The message is geth's. */
export class InvalidCallArgumentsError extends NodeError {
  readonly code = "CALL_INVALID_ARGUMENTS";
}

const GAS_MAX = 2n ** 63n - 1n;

type CallDefaults = {
  readonly chainId: bigint;
  /** Absent if the block has none: then only `gasPrice` counts, as in geth. */
  readonly baseFeePerGas: bigint | undefined;
  /** The most gas a call gets, in units; 0: no limit. */
  readonly gasCap: bigint;
};

/**
 * The message that a call is, everything left out filled in: geth's CallDefaults and ToMessage.
 * @throws InvalidCallArgumentsError
 */
export function messageFromCall(args: CallArguments, defaults: CallDefaults): TransactionMessage {
  assertOnePriceForm(args);
  assertTypeCreates(args);
  assertChainId(args, defaults.chainId);
  const { blobVersionedHashes, maxFeePerBlobGas } = args;
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = pricesOf(args, defaults.baseFeePerGas);
  // One shape for all messages, see `messageFromTransaction`.
  return {
    from: args.from ?? ZERO_ADDRESS,
    to: args.to ?? null,
    nonce: args.nonce ?? 0n,
    value: args.value ?? 0n,
    gasLimit: cappedGas(args.gas, defaults.gasCap),
    gasPrice,
    maxFeePerGas,
    maxPriorityFeePerGas,
    data: calldataOf(args),
    accessList: args.accessList ?? [],
    blobVersionedHashes,
    maxFeePerBlobGas: blobVersionedHashes ? (maxFeePerBlobGas ?? 0n) : maxFeePerBlobGas,
    authorizationList: args.authorizationList,
  };
}

/** @throws InvalidCallArgumentsError when both price forms are there. */
function assertOnePriceForm(args: CallArguments): void {
  const has1559 = args.maxFeePerGas !== undefined || args.maxPriorityFeePerGas !== undefined;
  if (args.gasPrice !== undefined && has1559) {
    throw new InvalidCallArgumentsError("both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified");
  }
}

/** @throws InvalidCallArgumentsError for a creation of a type that cannot create. */
function assertTypeCreates({ to, blobVersionedHashes, authorizationList }: CallArguments): void {
  if (to !== undefined && to !== null) return;
  if (blobVersionedHashes) throw new InvalidCallArgumentsError("blob transaction of type create");
  if (authorizationList) {
    throw new InvalidCallArgumentsError("EIP-7702 transaction cannot be used to create contract");
  }
}

/**
 * For calls and estimates: simulations and traces take a price for blobs without blobs, as in geth.
 * @throws InvalidCallArgumentsError
 */
export function assertBlobFeeHasBlobs({ maxFeePerBlobGas, blobVersionedHashes = [] }: CallArguments): void {
  if (maxFeePerBlobGas !== undefined && blobVersionedHashes.length === 0) {
    throw new InvalidCallArgumentsError("maxFeePerBlobGas specified without blobVersionedHashes");
  }
}

/** @throws InvalidCallArgumentsError when the arguments are for another chain. */
export function assertChainId({ chainId }: CallArguments, want: bigint): void {
  if (chainId !== undefined && chainId !== want) {
    throw new InvalidCallArgumentsError(`chainId does not match node's (have=${chainId}, want=${want})`);
  }
}

/**
 * The fields of the transaction that the arguments describe, what is left out being 0; the type is the oldest that holds
 * all of them, but at least `leastType`, and always 0 with a gasPrice, as geth has it.
 */
export function transactionFieldsOf(args: CallArguments, chainId: bigint, leastType: 0 | 2 = 0): TransactionFields {
  const common = {
    nonce: args.nonce ?? 0n,
    gasLimit: args.gas ?? 0n,
    to: args.to ?? null,
    value: args.value ?? 0n,
    data: calldataOf(args),
  };
  const { gasPrice = 0n, accessList = [], blobVersionedHashes, authorizationList } = args;
  const type = typeOf(args, leastType);
  if (type === 0) return { ...common, type, chainId: undefined, gasPrice };
  if (type === 1) return { ...common, type, chainId, gasPrice, accessList };
  const market = {
    chainId,
    accessList,
    maxFeePerGas: args.maxFeePerGas ?? 0n,
    maxPriorityFeePerGas: args.maxPriorityFeePerGas ?? 0n,
  };
  if (type === 2) return { ...common, ...market, type };
  if (type === 4) {
    return { ...common, ...market, type, authorizationList: authorizationList ?? [] };
  }
  const maxFeePerBlobGas = args.maxFeePerBlobGas ?? 0n;
  const hashes = blobVersionedHashes ?? [];
  return { ...common, ...market, type, maxFeePerBlobGas, blobVersionedHashes: hashes };
}

function typeOf(args: CallArguments, leastType: 0 | 2): 0 | 1 | 2 | 3 | 4 {
  if (args.gasPrice !== undefined) return args.accessList ? 1 : 0;
  if (args.authorizationList) return 4;
  if (args.blobVersionedHashes) return 3;
  if (args.maxFeePerGas !== undefined || leastType === 2) return 2;
  return args.accessList ? 1 : 0;
}

function cappedGas(gas: bigint | undefined, gasCap: bigint): bigint {
  if (gasCap === 0n) return gas ?? GAS_MAX;
  return gas === undefined || gas > gasCap ? gasCap : gas;
}

/** A call that names no price pays none, whatever the base fee is. */
function pricesOf(
  { gasPrice, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n }: CallArguments,
  baseFeePerGas: bigint | undefined,
) {
  if (gasPrice !== undefined || baseFeePerGas === undefined) {
    const price = gasPrice ?? 0n;
    return { gasPrice: price, maxFeePerGas: price, maxPriorityFeePerGas: price };
  }
  if (maxFeePerGas === 0n && maxPriorityFeePerGas === 0n) {
    return { gasPrice: 0n, maxFeePerGas, maxPriorityFeePerGas };
  }
  const wanted = maxPriorityFeePerGas + baseFeePerGas;
  const price = wanted > maxFeePerGas ? maxFeePerGas : wanted;
  return { gasPrice: price, maxFeePerGas, maxPriorityFeePerGas };
}

/** The part of a header that prices are made from. */
type FeeHeader = Pick<Header, "baseFeePerGas" | "excessBlobGas" | "timestamp">;

/**
 * `args` with the prices a wallet would offer after `head`, where they are left out: the suggested tip and twice the base fee.
 * @param suggestTip asked only when a tip is missing; wei
 * @throws InvalidCallArgumentsError
 */
export function withFeeDefaults(
  args: CallArguments,
  head: FeeHeader,
  config: ChainConfig,
  suggestTip: () => bigint,
): CallArguments {
  const withBlobFee = withBlobFeeDefault(args, head, config);
  assertOnePriceForm(withBlobFee);
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, authorizationList } = withBlobFee;
  if (gasPrice !== undefined && authorizationList !== undefined) {
    throw new InvalidCallArgumentsError("both gasPrice and authorizationList specified");
  }
  if (maxFeePerGas !== undefined && maxPriorityFeePerGas !== undefined) {
    if (maxFeePerGas === 0n && !mayBeFree(config)) {
      throw new InvalidCallArgumentsError("maxFeePerGas must be non-zero");
    }
    assertTipWithinFee(maxFeePerGas, maxPriorityFeePerGas);
    return withBlobFee;
  }
  const baseFee = followingBaseFee(head, config);
  if (gasPrice !== undefined) {
    if (gasPrice === 0n && baseFee !== undefined && !mayBeFree(config)) {
      throw new InvalidCallArgumentsError("gasPrice must be non-zero after london fork");
    }
    return withBlobFee;
  }
  if (baseFee === undefined) {
    if (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined) {
      throw new InvalidCallArgumentsError(
        "maxFeePerGas and maxPriorityFeePerGas are not valid before London is active",
      );
    }
    return { ...withBlobFee, gasPrice: suggestTip() };
  }
  const tip = maxPriorityFeePerGas ?? tipWithin(config.devRules ? maxFeePerGas : undefined, suggestTip());
  const fee = maxFeePerGas ?? tip + 2n * baseFee;
  assertTipWithinFee(fee, tip);
  return { ...withBlobFee, maxFeePerGas: fee, maxPriorityFeePerGas: tip };
}

/** A price of 0 is rejected, as in geth, where no block takes it. */
function mayBeFree({ zeroBaseFee, devRules }: ChainConfig): boolean {
  return zeroBaseFee === true || devRules === true;
}

function tipWithin(most: bigint | undefined, suggested: bigint): bigint {
  return most !== undefined && most < suggested ? most : suggested;
}

/** Block 0 of a chain without a base fee may have one; the blocks after it have not. */
function followingBaseFee({ baseFeePerGas }: FeeHeader, { zeroBaseFee }: ChainConfig): bigint | undefined {
  return baseFeePerGas !== undefined && zeroBaseFee ? 0n : baseFeePerGas;
}

/** Twice the blob base fee of `head`, for a transaction with blobs that names no price for them. */
function withBlobFeeDefault(args: CallArguments, head: FeeHeader, config: ChainConfig): CallArguments {
  if (args.maxFeePerBlobGas === 0n) {
    throw new InvalidCallArgumentsError("maxFeePerBlobGas, if specified, must be non-zero");
  }
  const params = blobParamsAt(config, head.timestamp);
  if (!args.blobVersionedHashes || args.maxFeePerBlobGas !== undefined || !params) return args;
  return { ...args, maxFeePerBlobGas: 2n * blobBaseFee(head.excessBlobGas ?? 0n, params) };
}

function assertTipWithinFee(maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): void {
  if (maxFeePerGas < maxPriorityFeePerGas) {
    throw new InvalidCallArgumentsError(
      `maxFeePerGas (${toQuantity(maxFeePerGas)}) < maxPriorityFeePerGas (${toQuantity(maxPriorityFeePerGas)})`,
    );
  }
}
