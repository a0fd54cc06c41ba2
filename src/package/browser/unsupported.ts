import { NodeError } from "../../base/errors.ts";

/** The feature needs a process, a port or an address, which a web page does not have. */
export class UnsupportedInBrowserError extends NodeError {
  readonly code = "BROWSER_UNSUPPORTED";
  constructor(what: string) {
    super(`${what}: not available in a browser`, { what });
  }
}
