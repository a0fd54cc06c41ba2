import { FORK_PAUSE_MS } from "../../../dev/fork/fetch-remote-calls.ts";
import { hardforkAt } from "../../../params/hardforks.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { json } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import type { NodePort } from "../../ports/node.ts";

type Modules = {
  readonly chain: Pick<ChainView, "config" | "head" | "suggestTip">;
  readonly node: Pick<NodePort, "devChain">;
};

/**
 * `anvil_nodeInfo`: head, rules and fees in anvil's shape. `currentBlockTimestamp` (Unix seconds) and `chainId` are JSON integers, the
 * other numbers QUANTITY; the members of `forkConfig` are null where nothing is forked.
 *
 * @see Foundry book, anvil reference, `anvil_nodeInfo`
 */
export const anvilNodeInfo = defineMethod({
  name: "anvil_nodeInfo",
  params: {},
  result: json,
  private: true,
  async handle(_params, { chain, node }: Modules) {
    const { header, hash } = await chain.head();
    const baseFee = header.baseFeePerGas ?? 0n;
    const { fork } = await node.devChain();
    const hardfork = hardforkAt(chain.config, header);
    return {
      currentBlockNumber: toQuantity(header.number),
      currentBlockTimestamp: header.timestamp,
      currentBlockHash: hash,
      hardFork: `${hardfork[0]!.toUpperCase()}${hardfork.slice(1)}`,
      transactionOrder: "fees",
      environment: {
        baseFee: toQuantity(baseFee),
        chainId: Number(chain.config.chainId),
        gasLimit: toQuantity(header.gasLimit),
        gasPrice: toQuantity(baseFee + (await chain.suggestTip())),
      },
      forkConfig: {
        forkUrl: fork?.url ?? null,
        forkBlockNumber: fork?.number ?? null,
        forkRetryBackoff: fork === undefined ? null : FORK_PAUSE_MS,
      },
    };
  },
});
