import { NodeError } from "../../errors.ts";

/**
 * The transaction is at fault, whatever block it is in: a proposer leaves it out, and one in a decided block is skipped. Every other error of an
 * execution is a bug, damaged data or the block's own fault, and stops the node.
 */
export abstract class TransactionRejection extends NodeError {}

/** Bytes that end before the body of a typed transaction begins. */
export class TransactionTooShortError extends TransactionRejection {
  readonly code = "TX_TOO_SHORT";
  constructor() {
    super("typed transaction too short");
  }
}

/** A transaction type no rule knows, or one that the chain's fork does not know yet. */
export class TransactionTypeNotSupportedError extends TransactionRejection {
  readonly code = "TX_TYPE_NOT_SUPPORTED";
  constructor(type: number) {
    super("transaction type not supported", { type });
  }
}

/** A signature that is no member of the curve's group, or whose `v` or high `s` the rules refuse (EIP-2, EIP-155). */
export class InvalidSignatureError extends TransactionRejection {
  readonly code = "TX_INVALID_SIGNATURE_VRS";
  constructor(details: { readonly v: bigint; readonly r: bigint; readonly s: bigint }) {
    super("invalid transaction v, r, s values", details);
  }
}

/** A signature in range behind which there is no public key. */
export class SenderRecoveryError extends TransactionRejection {
  readonly code = "TX_EC_RECOVERY_FAIL";
  constructor() {
    super("recovery failed");
  }
}

/** A blob sidecar whose wrapper version no rule knows. */
export class SidecarVersionError extends TransactionRejection {
  readonly code = "TX_SIDECAR_VERSION_NOT_SUPPORTED";
  constructor(version: bigint) {
    super(`unsupported sidecar version ${version}`, { version });
  }
}
