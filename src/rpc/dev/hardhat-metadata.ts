import type { ChainReader } from "../../chain/reader.ts";
import { defineMethod } from "../dispatch/method.ts";
import { json } from "../params/codec.ts";
import type { NodeInfo } from "../ports/node-info.ts";
import type { DevChain } from "./port.ts";

type Modules = {
  readonly chain: ChainReader;
  readonly node: Pick<NodeInfo, "clientVersion">;
  readonly devChain: DevChain;
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
  result: json,
  private: true,
  handle(_params, { chain, node, devChain }: Modules) {
    const { block } = chain.head();
    return {
      clientVersion: node.clientVersion,
      chainId: Number(chain.config.chainId),
      instanceId: devChain.instanceId(),
      latestBlockNumber: block.header.number,
      latestBlockHash: block.hash,
    };
  },
});
