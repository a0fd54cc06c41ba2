/**
 * The slot of the block after `parent` (EIP-7843) on a chain without a beacon chain: one after the parent's, and the number of the
 * block where the parent has none, because every node knows it then (ADR 146).
 */
export function nextSlotNumber({
  number,
  slotNumber,
}: {
  readonly number: number;
  readonly slotNumber?: bigint;
}): bigint {
  return slotNumber === undefined ? BigInt(number) + 1n : BigInt.asUintN(64, slotNumber + 1n);
}
