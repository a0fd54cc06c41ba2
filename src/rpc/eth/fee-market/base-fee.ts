import { nextBaseFee } from "../../../params/fees.ts";
import { isBlockForkActive } from "../../../params/hardforks.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { nullable, quantity } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_baseFee`: base fee of the next block in wei (EIP-1559), null before London. */
export const baseFee = defineMethod({
  name: "eth_baseFee",
  params: {},
  result: nullable(quantity),
  handle: (_params, { chain }: { chain: Pick<ChainView, "config" | "head"> }) =>
    andThen(chain.head(), ({ header }) =>
      isBlockForkActive(chain.config, "londonBlock", header.number + 1)
        ? nextBaseFee(header)
        : null,
    ),
});
