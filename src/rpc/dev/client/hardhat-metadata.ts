import { defineMethod } from "../../dispatch/method.ts";
import { json } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import type { NodePort } from "../../ports/node.ts";
import { DEV_METADATA } from "../../result-schemas.ts";

type Modules = {
  readonly chain: Pick<ChainView, "config" | "head">;
  readonly node: Pick<NodePort, "info" | "devChain">;
};

/**
 * `hardhat_metadata`: `{clientVersion, chainId, instanceId, latestBlockNumber, latestBlockHash}`, numbers as JSON integers, and on a fork
 * `forkedNetwork`: `{chainId, forkBlockNumber, forkBlockHash}`. Hardhat Ignition deletes its journal of a deployment when `instanceId` has changed.
 *
 * @see Hardhat Network reference, `hardhat_metadata`
 */
export const hardhatMetadata = defineMethod({
  name: "hardhat_metadata",
  params: {},
  result: { ...json, ...DEV_METADATA },
  private: true,
  async handle(_params, { chain, node }: Modules) {
    const { hash, header } = await chain.head();
    const { clientVersion } = await node.info();
    const { instanceId, fork } = await node.devChain();
    const chainId = Number(chain.config.chainId);
    return {
      ...{ clientVersion, chainId },
      instanceId,
      latestBlockNumber: header.number,
      latestBlockHash: hash,
      ...(fork && {
        forkedNetwork: { chainId, forkBlockNumber: fork.number, forkBlockHash: fork.hash },
      }),
    };
  },
});
