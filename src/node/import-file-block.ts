import type { Chain } from "../chain/chain.ts";
import { importBlock } from "../chain/import-block.ts";
import { voteEffect } from "../consensus/clique/vote-effect.ts";
import { decodeConsensusData } from "../consensus/consensus-data.ts";
import type { ExecutionModules } from "../execution/block/block-execution.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import { encodeFileBlock, type FileBlock, InvalidChainFileError } from "./chain-file.ts";

/** Executes a block of a chain file with the vote it carries, and makes it the head. @throws as `importBlock`, InvalidChainFileError */
export function importFileBlock(
  chain: Chain,
  { block, consensusData }: Pick<FileBlock, "block" | "consensusData">,
  execution: ExecutionModules,
): void {
  const data = decode(consensusData, block.header.number);
  if (data?.cast === undefined) {
    importBlock(chain, block, execution);
    return;
  }
  const { header } = chain.head().block;
  const { proposer, cast } = data;
  const { systemUpdate } = voteEffect(chain.stateAt(header.number), {
    ...{ proposer, ...cast },
    height: header.number + 1,
  });
  importBlock(chain, block, execution, { data: consensusData, systemUpdate });
}

/** Block `number` as a chain file holds it. */
export function exportFileBlock(
  chain: Pick<Chain, "blockByNumber" | "consensusDataOf">,
  number: number,
): Uint8Array {
  const data = chain.consensusDataOf(number);
  const hasVote = decodeConsensusData(data)?.cast !== undefined;
  return encodeFileBlock(chain.blockByNumber(number)!.block, hasVote ? data : EMPTY_BYTES);
}

function decode(consensusData: Uint8Array, number: number) {
  try {
    return decodeConsensusData(consensusData);
  } catch (cause) {
    throw new InvalidChainFileError(
      `the consensus data of block ${number} is malformed`,
      { number },
      { cause },
    );
  }
}
