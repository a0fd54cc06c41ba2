import { NodeError } from "../errors.ts";

/** Every reason for which the pool rejects a transaction, named as execution-spec-tests name the rules. */
type PoolRejectionCode =
  | "POOL_ALREADY_KNOWN"
  | "TX_TYPE_NOT_SUPPORTED"
  | "POOL_OVERSIZED_DATA"
  | "TX_INITCODE_SIZE_EXCEEDED"
  | "TX_GAS_LIMIT_EXCEEDS_MAXIMUM"
  | "TX_GAS_ALLOWANCE_EXCEEDED"
  | "TX_PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS"
  | "TX_INVALID_SENDER"
  | "TX_NONCE_IS_MAX"
  | "TX_NONCE_MISMATCH_TOO_LOW"
  | "TX_NONCE_MISMATCH_TOO_HIGH"
  | "TX_INTRINSIC_GAS_TOO_LOW"
  | "TX_INTRINSIC_GAS_BELOW_FLOOR_GAS_COST"
  | "POOL_GAS_PRICE_BELOW_MINIMUM"
  | "TX_TYPE_4_EMPTY_AUTHORIZATION_LIST"
  | "POOL_MISSING_SIDECAR"
  | "TX_TYPE_3_TX_ZERO_BLOBS"
  | "TX_TYPE_3_TX_BLOB_COUNT_EXCEEDED"
  | "POOL_SIDECAR_MISMATCH"
  | "POOL_WRONG_SIDECAR_FORMAT"
  | "POOL_KZG_VERIFICATION_FAILED"
  | "TX_INSUFFICIENT_ACCOUNT_FUNDS"
  | "POOL_DELEGATED_ACCOUNT_LIMIT"
  | "POOL_DELEGATED_NONCE_GAP"
  | "POOL_AUTHORITY_RESERVED"
  | "POOL_ADDRESS_RESERVED"
  | "POOL_ACCOUNT_LIMIT_EXCEEDED"
  | "POOL_UNDERPRICED"
  | "POOL_FULL"
  | "POOL_FUTURE_REPLACES_PENDING"
  | "POOL_REPLACEMENT_UNDERPRICED";

/**
 * The pool rejects a transaction. The message is geth's, word for word: ethers and viem distinguish the reasons by it.
 */
export class TransactionRejectedError extends NodeError {
  readonly code: PoolRejectionCode;
  constructor(code: PoolRejectionCode, message: string, options?: ErrorOptions) {
    super(message, {}, options);
    this.code = code;
  }
}

/** For `throw reject(code, message)`. */
export function reject(
  code: PoolRejectionCode,
  message: string,
  options?: ErrorOptions,
): TransactionRejectedError {
  return new TransactionRejectedError(code, message, options);
}
