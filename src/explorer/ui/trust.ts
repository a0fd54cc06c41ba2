import type { ChainReads } from "../verify/chain.ts";
import type { Json } from "../verify/json.ts";
import { call } from "./rpc.ts";
import { readStored, removeStored, writeStored } from "./stored.ts";
import { identityOf, TrustAnchors } from "./trust-anchors.ts";

/** What this browser trusts of the node that these pages come from. */
export const TRUST = new TrustAnchors({
  storage: { read: readStored, write: writeStored, remove: removeStored },
  async identify() {
    const [chainId, genesis] = await Promise.all([
      call<unknown>("eth_chainId"),
      call<Json | null>("eth_getBlockByNumber", "0x0", false),
    ]);
    return identityOf(chainId, genesis);
  },
  now: () => Math.floor(Date.now() / 1000),
});

export const CHAIN_READS: ChainReads = {
  blockByHash: (hash) => call("eth_getBlockByHash", hash, false),
  proof: (account, slots, blockHash) => call("eth_getProof", account, slots, { blockHash }),
};
