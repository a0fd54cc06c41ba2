import type * as Replaced from "../../node/chain/network-engine.ts";
import { UnsupportedInBrowserError } from "../web.ts";

/** CometBFT is a program beside the node. */
function reject(): never {
  throw new UnsupportedInBrowserError("consensus.engine = cometbft");
}

export const syncFromPeers: typeof Replaced.syncFromPeers = async () => reject();
export const createNetworkEngine: typeof Replaced.createNetworkEngine = reject;
export const startingSet: typeof Replaced.startingSet = reject;
export const defaultFeeRecipient: typeof Replaced.defaultFeeRecipient = reject;
