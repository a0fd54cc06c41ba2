import { defineMethod } from "../../dispatch/method.ts";
import { quantity } from "../../params/codec.ts";
import type { Sessions } from "../../ports/rpc-ports.ts";

/** `eth_hashrate`: what miners reported in the last ten seconds, in hashes a second. */
export const hashrate = defineMethod({
  name: "eth_hashrate",
  params: {},
  result: quantity,
  handle: (_params, { sessions }: { sessions: Pick<Sessions, "hashrates"> }) =>
    sessions.hashrates.total(),
});
