import {
  ACCESS_LIST_ADDRESS_GAS,
  ACCESS_LIST_STORAGE_KEY_GAS,
  AMSTERDAM_INTRINSIC,
  AUTHORIZATION_GAS,
  FLOOR_TOKEN_GAS,
  INIT_CODE_WORD_GAS,
  TOKENS_PER_NON_ZERO_BYTE,
  TX_BASE_GAS,
  TX_CREATE_GAS,
  TX_DATA_NON_ZERO_FRONTIER_GAS,
  TX_DATA_NON_ZERO_GAS,
  TX_DATA_ZERO_GAS,
} from "../../../base/params/gas.ts";
import { type Hardfork, RULES_AT } from "../../../base/params/hardforks.ts";
import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { effectiveGasPrice, maxFeePerGasOf, maxPriorityFeeOf } from "../../../base/types/transaction/fees.ts";
import { impersonatedSender } from "../../../base/types/transaction/impersonation.ts";
import type { AccessList, Authorization, Transaction } from "../../../base/types/transaction/transaction.ts";

/** The input of an execution: a transaction with its sender and effective price, or a call. Wei and gas units. */
export type TransactionMessage = {
  readonly from: Address;
  readonly to: Address | null;
  readonly nonce: bigint;
  readonly value: bigint;
  readonly gasLimit: bigint;
  /** The price really paid for a unit of gas. */
  readonly gasPrice: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly data: Uint8Array;
  readonly accessList: AccessList;
  /** EIP-4844; undefined in every other type */
  readonly blobVersionedHashes?: readonly Hash[] | undefined;
  readonly maxFeePerBlobGas?: bigint | undefined;
  /** EIP-7702; undefined in every other type */
  readonly authorizationList?: readonly Authorization[] | undefined;
  /** It has no signature, so its sender may be a contract. */
  readonly isImpersonated?: boolean;
};

/** The message of `tx`, whose sender has been recovered, in a block with that base fee (0 before London). */
export function messageFromTransaction(tx: Transaction, from: Address, baseFeePerGas: bigint): TransactionMessage {
  // All fields are written in one literal: one shape for all transactions, and no copying, on the path of every one of them.
  return {
    from,
    to: tx.to,
    nonce: tx.nonce,
    value: tx.value,
    gasLimit: tx.gasLimit,
    gasPrice: effectiveGasPrice(tx, baseFeePerGas),
    maxFeePerGas: maxFeePerGasOf(tx),
    maxPriorityFeePerGas: maxPriorityFeeOf(tx),
    data: tx.data,
    accessList: tx.type === 0 ? [] : tx.accessList,
    blobVersionedHashes: tx.type === 3 ? tx.blobVersionedHashes : undefined,
    maxFeePerBlobGas: tx.type === 3 ? tx.maxFeePerBlobGas : undefined,
    authorizationList: tx.type === 4 ? tx.authorizationList : undefined,
    isImpersonated: impersonatedSender(tx) !== undefined,
  };
}

/** What the intrinsic gas depends on besides the sender: any transaction, or a call that is not one. */
type IntrinsicGasInput = {
  readonly to: Address | null;
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly accessList?: AccessList | undefined;
  readonly authorizationList?: readonly Authorization[] | undefined;
};

/**
 * Gas a transaction costs before its first opcode (Yellow Paper 6.2; EIP-2, 2028, 2930, 3860, 7702), and the least
 * it uses in all, whatever it does (EIP-7623; 0 before Prague). The gas limit must cover both.
 */
export function intrinsicGas(
  tx: IntrinsicGasInput,
  from: Address,
  hardfork: Hardfork,
): { readonly intrinsic: bigint; readonly floor: bigint } {
  const nonZero = nonZeroBytes(tx.data);
  if (RULES_AT[hardfork].amsterdam) return intrinsicGasByResource(tx, from, nonZero);
  const zero = tx.data.length - nonZero;
  let intrinsic = GAS.base + zero * GAS.zero;
  intrinsic += nonZero * (RULES_AT[hardfork].istanbul ? GAS.nonZero : GAS.nonZeroFrontier);
  if (tx.to === null) {
    if (RULES_AT[hardfork].homestead) intrinsic += GAS.create;
    if (RULES_AT[hardfork].shanghai) {
      intrinsic += Math.ceil(tx.data.length / 32) * GAS.initCodeWord;
    }
  }
  for (const { storageKeys } of tx.accessList ?? []) {
    intrinsic += GAS.accessListAddress + storageKeys.length * GAS.accessListStorageKey;
  }
  intrinsic += (tx.authorizationList?.length ?? 0) * GAS.authorization;

  const floor = RULES_AT[hardfork].prague ? GAS.base + (zero + nonZero * GAS.tokensPerNonZero) * GAS.floorToken : 0;
  return { intrinsic: BigInt(intrinsic), floor: BigInt(floor) };
}

/** EIP-2780 with EIP-7976, 7981, 8037 and 8038: none of it depends on the state. */
function intrinsicGasByResource(tx: IntrinsicGasInput, from: Address, nonZero: number) {
  const { to, value, data, accessList = [], authorizationList = [] } = tx;
  let base = BY_RESOURCE.base;
  if (to === null) base += BY_RESOURCE.creation;
  else if (to !== from) base += BY_RESOURCE.recipient + (value === 0n ? 0 : BY_RESOURCE.value);
  let keys = 0;
  for (const { storageKeys } of accessList) keys += storageKeys.length;
  let intrinsic = base + (data.length - nonZero) * GAS.zero + nonZero * GAS.nonZero;
  if (to === null) intrinsic += Math.ceil(data.length / 32) * GAS.initCodeWord;
  intrinsic += accessList.length * BY_RESOURCE.accessListAddress + keys * BY_RESOURCE.accessListStorageKey;
  intrinsic += authorizationList.length * BY_RESOURCE.authorization;
  const floor = base + (data.length + 20 * accessList.length + 32 * keys) * BY_RESOURCE.floorByte;
  return { intrinsic: BigInt(intrinsic), floor: BigInt(floor) };
}

const BY_RESOURCE = Object.fromEntries(
  Object.entries(AMSTERDAM_INTRINSIC).map(([name, gas]) => [name, Number(gas)]),
) as Readonly<Record<keyof typeof AMSTERDAM_INTRINSIC, number>>;

/** As numbers: what a transaction of any size adds up to is far below 2^53, and each step with bigints allocates. */
const GAS = {
  base: Number(TX_BASE_GAS),
  create: Number(TX_CREATE_GAS),
  zero: Number(TX_DATA_ZERO_GAS),
  nonZero: Number(TX_DATA_NON_ZERO_GAS),
  nonZeroFrontier: Number(TX_DATA_NON_ZERO_FRONTIER_GAS),
  initCodeWord: Number(INIT_CODE_WORD_GAS),
  accessListAddress: Number(ACCESS_LIST_ADDRESS_GAS),
  accessListStorageKey: Number(ACCESS_LIST_STORAGE_KEY_GAS),
  authorization: Number(AUTHORIZATION_GAS),
  floorToken: Number(FLOOR_TOKEN_GAS),
  tokensPerNonZero: Number(TOKENS_PER_NON_ZERO_BYTE),
};

function nonZeroBytes(data: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < data.length; i++) if (data[i] !== 0) count++;
  return count;
}
