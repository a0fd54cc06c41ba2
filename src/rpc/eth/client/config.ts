import { type ForkConfig, forkConfigs } from "../../../chain/fork-config.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { json } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/**
 * `eth_config`: the rules that hold at the head, those of the next fork and of the last one scheduled.
 * @see EIP-7910
 */
export const config = defineMethod({
  name: "eth_config",
  params: {},
  result: json,
  handle: (_params, { chain }: { chain: Pick<ChainView, "config" | "genesis" | "head"> }) =>
    andThen(chain.head(), ({ header }) => {
      const { current, next, last } = forkConfigs(chain.config, chain.genesis, header.timestamp);
      return { current: jsonOf(current), next: jsonOf(next), last: jsonOf(last) };
    }),
});

function jsonOf(fork: ForkConfig | undefined) {
  if (!fork) return null;
  const { blobSchedule, chainId, precompiles, systemContracts, ...rest } = fork;
  return {
    ...rest,
    blobSchedule: blobSchedule
      ? { ...blobSchedule, baseFeeUpdateFraction: Number(blobSchedule.baseFeeUpdateFraction) }
      : null,
    chainId: toQuantity(chainId),
    precompiles: Object.fromEntries(precompiles),
    systemContracts: Object.fromEntries(systemContracts),
  };
}
