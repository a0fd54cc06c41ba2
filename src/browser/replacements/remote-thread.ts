import type * as Replaced from "../../node/adapters/remote-thread.ts";
import { UnsupportedInBrowserError } from "../web.ts";

/** The EVM waits for an answer of the remote chain, which a page must not. */
export const startRemoteThread: typeof Replaced.startRemoteThread = () => {
  throw new UnsupportedInBrowserError("dev.fork-url");
};
