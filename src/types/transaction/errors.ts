import { NodeError } from "../../errors.ts";

/** Bytes that end before the body of a typed transaction begins. */
export class TransactionTooShortError extends NodeError {
  readonly code = "TX_TOO_SHORT";
  constructor() {
    super("typed transaction too short");
  }
}

/** A transaction type no rule knows, or one that the chain's fork does not know yet. */
export class TransactionTypeNotSupportedError extends NodeError {
  readonly code = "TX_TYPE_NOT_SUPPORTED";
  constructor(type: number) {
    super("transaction type not supported", { type });
  }
}

/** A signature that is no member of the curve's group, or whose `v` or high `s` the rules refuse (EIP-2, EIP-155). */
export class InvalidSignatureError extends NodeError {
  readonly code = "TX_INVALID_SIGNATURE_VRS";
  constructor(details: { readonly v: bigint; readonly r: bigint; readonly s: bigint }) {
    super("invalid transaction v, r, s values", details);
  }
}

/** A signature in range behind which there is no public key. */
export class SenderRecoveryError extends NodeError {
  readonly code = "TX_EC_RECOVERY_FAIL";
  constructor() {
    super("recovery failed");
  }
}

/** A blob sidecar whose wrapper version no rule knows. */
export class SidecarVersionError extends NodeError {
  readonly code = "TX_SIDECAR_VERSION_NOT_SUPPORTED";
  constructor(version: bigint) {
    super(`unsupported sidecar version ${version}`, { version });
  }
}
