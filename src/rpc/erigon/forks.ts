import { forkSchedule } from "../../params/fork-id.ts";
import { defineMethod } from "../dispatch/method.ts";
import { json } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { andThen } from "../ports/maybe-promise.ts";

/** `erigon_forks`: the genesis hash, and the blocks and times (Unix seconds) of the forks after genesis (EIP-2124), ascending. */
export const forks = defineMethod({
  name: "erigon_forks",
  params: {},
  result: json,
  handle: (_params, { chain }: { chain: Pick<ChainView, "header" | "config" | "genesisHash"> }) =>
    andThen(chain.header(0), (genesis) => {
      const { blocks, times } = forkSchedule(chain.config, genesis?.header.timestamp ?? 0);
      return { genesis: chain.genesisHash, heightForks: blocks, timeForks: times };
    }),
});
