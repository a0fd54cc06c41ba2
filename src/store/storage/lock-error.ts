import { NodeError } from "../../base/errors.ts";

/** Another process has these files open. */
export class LockedError extends NodeError {
  readonly code = "STORE_LOCKED";
  constructor(details: { readonly path: string; readonly pid: number | undefined }) {
    super(`process ${details.pid ?? "unknown"} holds ${details.path}`, details);
  }
}
