import type { ErrorCode } from "../../base/error-codes.ts";
import { NodeError } from "../../base/errors.ts";
import { TransactionRejection } from "../../base/types/transaction/codec.ts";

/** A rule a transaction can break; behind `TX_` stands the name execution-spec-tests give it (`TransactionException`). */
export type InvalidTransactionCode = Extract<ErrorCode, `TX_${string}`>;

/** The transaction can not be part of this block. The message is geth's. */
export class InvalidTransactionError extends TransactionRejection {
  readonly code: InvalidTransactionCode;
  constructor(code: InvalidTransactionCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message, details);
    this.code = code;
  }
}

/** A rule a block can break; behind `BLOCK_` stands the name execution-spec-tests give it (`BlockException`) where they have one. */
export type InvalidBlockCode = Extract<ErrorCode, `BLOCK_${string}`>;

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

/** @throws InvalidBlockError */
export function rejectBlock(code: InvalidBlockCode, message: string): never {
  throw new InvalidBlockError(code, message);
}
