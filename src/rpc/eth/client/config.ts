import { type ForkConfig, forkConfigs } from "../../../chain/fork-config.ts";
import { invariant } from "../../../errors.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { json } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";

/**
 * `eth_config`: the rules that hold at the head, those of the next fork and of the last one scheduled.
 * @see EIP-7910
 */
export const config = defineMethod({
  name: "eth_config",
  params: {},
  result: json,
  async handle(_params, { chain }: { chain: Pick<ChainView, "config" | "head" | "header"> }) {
    const { header } = await chain.head();
    const genesis = await chain.header(0);
    invariant(genesis, "there is a genesis block");
    const { current, next, last } = forkConfigs(chain.config, genesis, header.timestamp);
    return { current: jsonOf(current), next: jsonOf(next), last: jsonOf(last) };
  },
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
