import type { ErrorCode } from "../base/error-codes.ts";
import { NodeError } from "../base/errors.ts";
import type { DecodedPooledTransaction } from "../base/types/transaction/decode.ts";
import { INSERT_CODES, type InsertCode } from "./application.ts";
import type { PeerSubmissions, RunAdd } from "./mempool/peer-submissions.ts";
import { decodeSubmission } from "./mempool/submission.ts";

/**
 * Pool rejections after which the same bytes can never become valid on this chain. All others depend on the head, the pool, the fork or this
 * machine.
 */
const FINAL_CODES: ReadonlySet<ErrorCode> = new Set([
  "POOL_KZG_VERIFICATION_FAILED",
  "POOL_MISSING_SIDECAR",
  "POOL_OVERSIZED_DATA",
  "POOL_SIDECAR_MISMATCH",
  "TX_EC_RECOVERY_FAIL",
  "TX_GAS_LIMIT_EXCEEDS_MAXIMUM",
  "TX_INITCODE_SIZE_EXCEEDED",
  "TX_INTRINSIC_GAS_BELOW_FLOOR_GAS_COST",
  "TX_INTRINSIC_GAS_TOO_LOW",
  "TX_INVALID_SENDER",
  "TX_INVALID_SIGNATURE_VRS",
  "TX_NONCE_IS_MAX",
  "TX_NONCE_MISMATCH_TOO_LOW",
  "TX_PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS",
  "TX_TYPE_3_TX_ZERO_BLOBS",
  "TX_TYPE_4_EMPTY_AUTHORIZATION_LIST",
]);

/**
 * Submits a transaction in network form to the pool.
 * @param run runs the addition to the pool, at once or once its proofs are verified
 * @returns the code, and why it was not accepted
 */
export function insertTransaction(
  tx: Uint8Array,
  submissions: Pick<PeerSubmissions, "submit">,
  run: RunAdd,
): { readonly code: InsertCode; readonly log: string } {
  let decoded: DecodedPooledTransaction;
  try {
    decoded = decodeSubmission(tx);
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return { code: INSERT_CODES.invalid, log: error.message };
  }
  try {
    submissions.submit(decoded, run);
    return { code: INSERT_CODES.accepted, log: "" };
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return { code: insertCodeOf(error), log: error.message };
  }
}

/** The code of the pool's error. */
function insertCodeOf({ code }: NodeError): InsertCode {
  if (code === "POOL_ALREADY_KNOWN") return INSERT_CODES.accepted;
  return FINAL_CODES.has(code) ? INSERT_CODES.invalid : INSERT_CODES.retry;
}
