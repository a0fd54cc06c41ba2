import { toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { json } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

const SINCE_GENESIS = { disabled: false, oldestBlock: "0x0" };

/**
 * `eth_capabilities`: from which block on the node can answer questions of each kind. It prunes nothing, so all of them from
 * genesis on.
 * @see execution-apis `src/eth/client.yaml`
 */
export const capabilities = defineMethod({
  name: "eth_capabilities",
  params: {},
  result: json,
  handle: (_params, { chain }: { chain: Pick<ChainView, "head"> }) =>
    andThen(chain.head(), ({ hash, header }) => ({
      head: { number: toQuantity(header.number), hash },
      state: SINCE_GENESIS,
      tx: SINCE_GENESIS,
      logs: SINCE_GENESIS,
      receipts: SINCE_GENESIS,
      blocks: SINCE_GENESIS,
      stateproofs: SINCE_GENESIS,
    })),
});
