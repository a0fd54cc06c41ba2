import type { ChainConfig } from "../params/chain-config.ts";
import { nextBaseFee } from "../params/fees.ts";
import { hardforkAt, isBlockForkActive } from "../params/hardfork-at.ts";
import type { Hardfork } from "../params/hardforks.ts";
import type { PoolHead } from "./pool.ts";

/** The rules at the head: those of the head block itself, as in geth, except for the base fee, which is the next block's. */
export type PoolRules = PoolHead & {
  readonly hardfork: Hardfork;
  readonly chainId: bigint;
  /** undefined before London */
  readonly nextBaseFee: bigint | undefined;
};

export function rulesAt(config: ChainConfig, { header, state }: PoolHead): PoolRules {
  const isLondonNext = isBlockForkActive(config, "londonBlock", header.number + 1);
  return {
    header,
    state,
    hardfork: hardforkAt(config, header),
    chainId: config.chainId,
    nextBaseFee: isLondonNext ? nextBaseFee(header) : undefined,
  };
}
