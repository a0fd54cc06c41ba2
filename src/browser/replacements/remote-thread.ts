import type * as Replaced from "../../dev/fork/remote-thread.ts";
import { UnsupportedInBrowserError } from "../unsupported.ts";

/** The EVM waits for an answer of the remote chain, which a page must not. */
export const startRemoteThread: typeof Replaced.startRemoteThread = () => {
  throw new UnsupportedInBrowserError("dev.fork-url");
};
