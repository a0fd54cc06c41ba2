/**
 * Rules that a vector breaks together, where geth's order, which we keep, finds another one first than the
 * specification that the vector was filled with.
 */
const ALSO_BROKEN: Readonly<Record<string, readonly string[]>> = {
  // More blobs than a block may hold are more than a transaction may carry (EIP-7594).
  TX_TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED: ["TX_TYPE_3_TX_BLOB_COUNT_EXCEEDED"],
  // Before EIP-7594 the block's limit was the only one for a transaction.
  TX_TYPE_3_TX_BLOB_COUNT_EXCEEDED: ["TX_TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED"],
  // A block is read without knowing its fork, so that withdrawals are missing is found after decoding.
  BLOCK_RLP_WITHDRAWALS_NOT_READ: ["BLOCK_INCORRECT_BLOCK_FORMAT"],
};

/** Our codes for what a vector expects: `TransactionException.X|BlockException.Y` and what counts as the same. */
export function codesOf(exception = ""): string[] {
  const codes = exception
    .split("|")
    .map((name) => name.replace("TransactionException.", "TX_").replace("BlockException.", "BLOCK_"));
  return codes.flatMap((code) => [code, ...(ALSO_BROKEN[code] ?? [])]);
}
