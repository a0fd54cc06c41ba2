import { ERROR_CODES, type ErrorFacts } from "../../../base/error-codes.ts";
import { errorClassOf, NodeError } from "../../../base/errors.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";

/** A bug, or a failure of the operating system. */
const INTERNAL_ERROR = -32603;

type ErrorObject = {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
};

/** The error object for an error a method threw. Of a bug the caller learns nothing but that it is one. */
export function toErrorObject(error: unknown): ErrorObject {
  if (isSystemError(error)) {
    const message = `system error ${error.code}`;
    return { code: INTERNAL_ERROR, message, data: { kind: "disk" } };
  }
  if (!(error instanceof NodeError)) {
    return { code: INTERNAL_ERROR, message: "method handler crashed" };
  }
  const { number: code, data: kind }: ErrorFacts = ERROR_CODES[error.code];
  const { message } = error;
  if (kind === undefined) return { code, message };
  if (kind !== "details") return { code, message, data: { kind } };
  const { data } = error.details;
  if (data === undefined) return { code, message };
  return { code, message, data: data instanceof Uint8Array ? bytesToHex(data) : data };
}

/** An error of a call to the operating system: ENOSPC, EIO, EMFILE … */
function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && !(error instanceof NodeError) && errorClassOf(error) === "operator";
}
