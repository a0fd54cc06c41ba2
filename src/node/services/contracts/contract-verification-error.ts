import { NodeError } from "../../../base/errors.ts";

/** Why sources are not those of a contract, or cannot be compared with it. */
export class ContractVerificationError extends NodeError {
  readonly code = "CONTRACT_VERIFICATION";
}
