import type { ChainReader } from "../../../chain/reader.ts";
import { blobParamsAt } from "../../../params/blob-schedule.ts";
import { blobBaseFee as feeAt } from "../../../params/fees.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { nullable, quantity } from "../../params/codec.ts";

/** `eth_blobBaseFee`: price of blob gas in the newest block, in wei (EIP-4844); null before Cancun. */
export const blobBaseFee = defineMethod({
  name: "eth_blobBaseFee",
  params: {},
  result: nullable(quantity),
  handle(_params, { chain }: { chain: ChainReader }) {
    const { excessBlobGas, timestamp } = chain.head().block.header;
    const params = blobParamsAt(chain.config, timestamp);
    return params === undefined || excessBlobGas === undefined
      ? null
      : feeAt(excessBlobGas, params);
  },
});
