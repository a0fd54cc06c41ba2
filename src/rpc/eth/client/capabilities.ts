import { toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { json } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/**
 * `eth_capabilities`: from which block on the node can answer questions of each kind.
 * @see execution-apis `src/eth/client.yaml`
 */
export const capabilities = defineMethod({
  name: "eth_capabilities",
  params: {},
  result: json,
  handle: (_params, { chain }: { chain: Pick<ChainView, "head" | "oldest"> }) =>
    andThen(chain.oldest(), ({ block, state, proof }) =>
      andThen(chain.head(), ({ hash, header }) => ({
        head: { number: toQuantity(header.number), hash },
        state: since(state),
        tx: since(block),
        logs: since(block),
        receipts: since(block),
        blocks: since(block),
        stateproofs: since(proof),
      })),
    ),
});

function since(number: number) {
  return { disabled: false, oldestBlock: toQuantity(number) };
}
