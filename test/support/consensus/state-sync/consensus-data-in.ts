import type { Chain } from "../../../../src/chain/chain.ts";
import { decodeConsensusData } from "../../../../src/consensus/consensus-data.ts";
import type { ConsensusDataSource } from "../../../../src/consensus/state-sync/restore.ts";

/** A network that has decided what is in `chain`. */
export function consensusDataIn(chain: Pick<Chain, "consensusDataOf">): ConsensusDataSource {
  return {
    consensusDataOf: async (height) => decodeConsensusData(chain.consensusDataOf(height))!,
  };
}
