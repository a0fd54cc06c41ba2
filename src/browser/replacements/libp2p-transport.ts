import type * as Replaced from "../../shh/peers/libp2p-transport.ts";
import { UnsupportedInBrowserError } from "../web.ts";

/** Whisper works inside this node; its peers are reached over TCP. */
export const startTransport: typeof Replaced.startTransport = async () => {
  throw new UnsupportedInBrowserError("shh.address and shh.peers");
};
