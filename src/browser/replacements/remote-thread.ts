import { UnsupportedInBrowserError } from "../unsupported.ts";

/** The EVM waits for an answer of the remote chain, which a page must not. */
export class RemoteThread {
  constructor() {
    throw new UnsupportedInBrowserError("dev.fork-url");
  }
}
