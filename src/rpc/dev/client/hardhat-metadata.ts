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
 * `hardhat_metadata`: `{clientVersion, chainId, instanceId, latestBlockNumber, latestBlockHash}`, numbers as JSON integers.
 * Hardhat Ignition deletes its journal of a deployment when `instanceId` has changed. `forkedNetwork` is absent: nothing is forked.
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
    const { instanceId } = await node.devChain();
    return {
      clientVersion,
      chainId: Number(chain.config.chainId),
      instanceId,
      latestBlockNumber: header.number,
      latestBlockHash: hash,
    };
  },
});
