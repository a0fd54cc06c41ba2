import { NodeError } from "../errors.ts";
import { TransactionRejection } from "../types/transaction/errors.ts";

/** A rule a transaction can break; behind `TX_` stands the name execution-spec-tests give it (`TransactionException`). */
export type InvalidTransactionCode =
  | "TX_NONCE_MISMATCH_TOO_HIGH"
  | "TX_NONCE_MISMATCH_TOO_LOW"
  | "TX_NONCE_IS_MAX"
  | "TX_GAS_LIMIT_EXCEEDS_MAXIMUM"
  | "TX_SENDER_NOT_EOA"
  | "TX_PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS"
  | "TX_INSUFFICIENT_MAX_FEE_PER_GAS"
  | "TX_TYPE_NOT_SUPPORTED"
  | "TX_TYPE_3_TX_CONTRACT_CREATION"
  | "TX_TYPE_3_TX_ZERO_BLOBS"
  | "TX_TYPE_3_TX_BLOB_COUNT_EXCEEDED"
  | "TX_TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH"
  | "TX_TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED"
  | "TX_INSUFFICIENT_MAX_FEE_PER_BLOB_GAS"
  | "TX_TYPE_4_TX_CONTRACT_CREATION"
  | "TX_TYPE_4_EMPTY_AUTHORIZATION_LIST"
  | "TX_INITCODE_SIZE_EXCEEDED"
  | "TX_GAS_ALLOWANCE_EXCEEDED"
  | "TX_INSUFFICIENT_ACCOUNT_FUNDS"
  | "TX_GASLIMIT_PRICE_PRODUCT_OVERFLOW"
  | "TX_INTRINSIC_GAS_TOO_LOW"
  | "TX_INTRINSIC_GAS_BELOW_FLOOR_GAS_COST"
  | "TX_INSUFFICIENT_FUNDS_FOR_TRANSFER"
  | "TX_INVALID_SIGNATURE"
  | "TX_INVALID_CHAINID";

/** The transaction can not be part of this block. The message is geth's. */
export class InvalidTransactionError extends TransactionRejection {
  readonly code: InvalidTransactionCode;
  constructor(
    code: InvalidTransactionCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message, details);
    this.code = code;
  }
}

/** A rule a block can break; behind `BLOCK_` stands the name execution-spec-tests give it (`BlockException`) where they have one. */
export type InvalidBlockCode =
  | "BLOCK_UNKNOWN_PARENT"
  | "BLOCK_EXTRA_DATA_TOO_BIG"
  | "BLOCK_INVALID_NONCE"
  | "BLOCK_INVALID_DIFFICULTY"
  | "BLOCK_IMPORT_IMPOSSIBLE_UNCLES_OVER_PARIS"
  | "BLOCK_INVALID_UNCLES"
  | "BLOCK_INVALID_UNCLES_HASH"
  | "BLOCK_INVALID_BLOCK_TIMESTAMP_OLDER_THAN_PARENT"
  | "BLOCK_INVALID_BLOCK_NUMBER"
  | "BLOCK_INVALID_GASLIMIT"
  | "BLOCK_GAS_USED_OVERFLOW"
  | "BLOCK_INVALID_BASEFEE_PER_GAS"
  | "BLOCK_INVALID_DAO_EXTRA_DATA"
  | "BLOCK_INCORRECT_BLOCK_FORMAT"
  | "BLOCK_INCORRECT_BLOB_GAS_USED"
  | "BLOCK_BLOB_GAS_USED_ABOVE_LIMIT"
  | "BLOCK_INCORRECT_EXCESS_BLOB_GAS"
  | "BLOCK_RLP_BLOCK_LIMIT_EXCEEDED"
  | "BLOCK_INVALID_TRANSACTIONS_ROOT"
  | "BLOCK_INVALID_WITHDRAWALS_ROOT"
  | "BLOCK_INVALID_GAS_USED"
  | "BLOCK_INVALID_LOG_BLOOM"
  | "BLOCK_INVALID_RECEIPTS_ROOT"
  | "BLOCK_INVALID_REQUESTS"
  | "BLOCK_INVALID_STATE_ROOT"
  | "BLOCK_INVALID_DEPOSIT_EVENT_LAYOUT"
  | "BLOCK_SYSTEM_CONTRACT_EMPTY"
  | "BLOCK_SYSTEM_CONTRACT_CALL_FAILED"
  | "BLOCK_INVALID_TRANSACTION";

/** The block is not valid after its parent. The message is geth's where geth has the rule. */
export class InvalidBlockError extends NodeError {
  readonly code: InvalidBlockCode;
  constructor(
    code: InvalidBlockCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, details, options);
    this.code = code;
  }
}
