import {
  ACCESS_LIST_ADDRESS_GAS,
  ACCESS_LIST_STORAGE_KEY_GAS,
  AUTHORIZATION_GAS,
  FLOOR_TOKEN_GAS,
  INIT_CODE_WORD_GAS,
  TOKENS_PER_NON_ZERO_BYTE,
  TX_BASE_GAS,
  TX_CREATE_GAS,
  TX_DATA_NON_ZERO_FRONTIER_GAS,
  TX_DATA_NON_ZERO_GAS,
  TX_DATA_ZERO_GAS,
} from "../../params/gas.ts";
import { type Hardfork, isAtLeast } from "../../params/hardforks.ts";
import type { Address } from "../../primitives/address.ts";
import type { AccessList, Authorization } from "../../types/transaction/transaction.ts";

/** What the intrinsic gas depends on: any transaction, or a call that is not one. */
export type IntrinsicGasInput = {
  readonly to: Address | null;
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
  hardfork: Hardfork,
): { readonly intrinsic: bigint; readonly floor: bigint } {
  const nonZero = BigInt(nonZeroBytes(tx.data));
  const zero = BigInt(tx.data.length) - nonZero;
  const nonZeroGas = isAtLeast(hardfork, "istanbul")
    ? TX_DATA_NON_ZERO_GAS
    : TX_DATA_NON_ZERO_FRONTIER_GAS;

  let intrinsic = TX_BASE_GAS + zero * TX_DATA_ZERO_GAS + nonZero * nonZeroGas;
  if (tx.to === null) {
    if (isAtLeast(hardfork, "homestead")) intrinsic += TX_CREATE_GAS;
    if (isAtLeast(hardfork, "shanghai")) {
      intrinsic += BigInt(Math.ceil(tx.data.length / 32)) * INIT_CODE_WORD_GAS;
    }
  }
  for (const { storageKeys } of tx.accessList ?? []) {
    intrinsic += ACCESS_LIST_ADDRESS_GAS;
    intrinsic += BigInt(storageKeys.length) * ACCESS_LIST_STORAGE_KEY_GAS;
  }
  intrinsic += BigInt(tx.authorizationList?.length ?? 0) * AUTHORIZATION_GAS;

  const floor = isAtLeast(hardfork, "prague")
    ? TX_BASE_GAS + (zero + nonZero * TOKENS_PER_NON_ZERO_BYTE) * FLOOR_TOKEN_GAS
    : 0n;
  return { intrinsic, floor };
}

function nonZeroBytes(data: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < data.length; i++) if (data[i] !== 0) count++;
  return count;
}
