import { GAS_PER_BLOB } from "../../params/gas.ts";
import type { Transaction } from "./transaction.ts";

/** Maximum price per unit of gas, in wei: `maxFeePerGas`, or `gasPrice` of types before EIP-1559. */
export function maxFeePerGasOf(tx: Transaction): bigint {
  return tx.type === 0 || tx.type === 1 ? tx.gasPrice : tx.maxFeePerGas;
}

/** Maximum tip per unit of gas, in wei: `maxPriorityFeePerGas`, or `gasPrice`. */
export function maxPriorityFeeOf(tx: Transaction): bigint {
  return tx.type === 0 || tx.type === 1 ? tx.gasPrice : tx.maxPriorityFeePerGas;
}

/** Price per unit of gas in a block with `baseFee` (0 before London), in wei: EIP-1559. */
export function effectiveGasPrice(tx: Transaction, baseFee: bigint): bigint {
  if (tx.type === 0 || tx.type === 1) return tx.gasPrice;
  const wanted = tx.maxPriorityFeePerGas + baseFee;
  if (wanted > tx.maxFeePerGas) return tx.maxFeePerGas;
  return wanted;
}

/** Tip per unit of gas in a block with `baseFee`, in wei; negative if the block cannot include `tx`. */
export function effectiveTip(tx: Transaction, baseFee: bigint): bigint {
  return effectiveGasPrice(tx, baseFee) - baseFee;
}

/** Blob gas of `tx` (EIP-4844); 0 for every other type. */
export function blobGasOf(tx: Transaction): bigint {
  return tx.type === 3 ? BigInt(tx.blobVersionedHashes.length) * GAS_PER_BLOB : 0n;
}

/** The balance that the sender needs, in wei: gas and blob gas at their maximum prices, plus the value. */
export function costOf(tx: Transaction): bigint {
  const blobCost = tx.type === 3 ? blobGasOf(tx) * tx.maxFeePerBlobGas : 0n;
  return tx.gasLimit * maxFeePerGasOf(tx) + tx.value + blobCost;
}
