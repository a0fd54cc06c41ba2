import { NodeError } from "../../../base/errors.ts";

/** The sources do not match the contract, or cannot be compared with it. */
export class ContractVerificationError extends NodeError {
  readonly code = "CONTRACT_VERIFICATION";
}
