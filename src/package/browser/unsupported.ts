import { NodeError } from "../../base/errors.ts";

/** Needs a process, a port or an address that a page does not have. */
export class UnsupportedInBrowserError extends NodeError {
  readonly code = "BROWSER_UNSUPPORTED";
  constructor(what: string) {
    super(`${what}: not available in a browser`, { what });
  }
}
