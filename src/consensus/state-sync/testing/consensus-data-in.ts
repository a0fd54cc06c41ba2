import type { Chain } from "../../../chain/chain.ts";
import { decodeConsensusData } from "../../consensus-data.ts";
import type { ConsensusDataSource } from "../restore.ts";

/** A network that has decided what is in `chain`. */
export function consensusDataIn(chain: Pick<Chain, "consensusDataOf">): ConsensusDataSource {
  return {
    consensusDataOf: async (height) => decodeConsensusData(chain.consensusDataOf(height))!,
  };
}
