import type { ChainReader } from "../../../chain/reader.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { json } from "../../params/codec.ts";

/**
 * `eth_capabilities`: from which block on the node can answer questions of each kind. It prunes nothing, so all of them from
 * genesis on.
 * @see execution-apis `src/eth/client.yaml`
 */
export const capabilities = defineMethod({
  name: "eth_capabilities",
  params: {},
  result: json,
  handle(_params, { chain }: { chain: ChainReader }) {
    const { hash, header } = chain.head().block;
    const whole = { disabled: false, oldestBlock: "0x0" };
    return {
      head: { number: toQuantity(header.number), hash },
      state: whole,
      tx: whole,
      logs: whole,
      receipts: whole,
      blocks: whole,
      stateproofs: whole,
    };
  },
});
