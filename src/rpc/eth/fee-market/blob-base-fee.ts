import { blobParamsAt } from "../../../params/blob-schedule.ts";
import { blobBaseFee as feeAt } from "../../../params/fees.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { nullable, quantity } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_blobBaseFee`: price of blob gas in the newest block, in wei (EIP-4844); null before Cancun. */
export const blobBaseFee = defineMethod({
  name: "eth_blobBaseFee",
  params: {},
  result: nullable(quantity),
  handle: (_params, { chain }: { chain: Pick<ChainView, "config" | "head"> }) =>
    andThen(chain.head(), ({ header: { excessBlobGas, timestamp } }) => {
      const params = blobParamsAt(chain.config, timestamp);
      return params === undefined || excessBlobGas === undefined
        ? null
        : feeAt(excessBlobGas, params);
    }),
});
