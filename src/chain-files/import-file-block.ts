import { type Chain, importBlock } from "../chain/chain.ts";
import { decodeConsensusData } from "../consensus/consensus-data.ts";
import { voteEffect } from "../consensus/voting/snapshot-storage.ts";
import type { ExecutionModules } from "../execution/block/block-execution.ts";
import type { Address } from "../primitives/address.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import { encodeFileBlock, type FileBlock, InvalidChainFileError } from "./chain-file.ts";

/**
 * Executes a block of a chain file with the vote it carries, and makes it the head.
 * @param fileBlock.senders those of the first transactions, where they have been recovered
 * @throws as `importBlock`, InvalidChainFileError
 */
export function importFileBlock(
  chain: Chain,
  {
    block,
    consensusData,
    senders,
  }: Pick<FileBlock, "block" | "consensusData"> & { readonly senders?: readonly Address[] },
  execution: ExecutionModules,
): void {
  importBlock(chain, block, execution, {
    data: consensusData,
    ...(senders && { senders }),
    ...systemUpdateOf(chain, consensusData, block.header.number),
  });
}

/** What the vote of a block that follows the head changes in the state, if it has one. */
function systemUpdateOf(chain: Chain, consensusData: Uint8Array, number: number) {
  const data = decode(consensusData, number);
  if (data?.cast === undefined) return {};
  const { header } = chain.head().block;
  const { proposer, cast } = data;
  const { systemUpdate } = voteEffect(chain.stateAt(header.number), {
    ...{ proposer, ...cast },
    height: header.number + 1,
  });
  return { systemUpdate };
}

/** Block `number` as a chain file holds it. */
export function exportFileBlock(
  chain: Pick<Chain, "block" | "consensusDataOf">,
  number: number,
): Uint8Array {
  const data = chain.consensusDataOf(number);
  const hasVote = decodeConsensusData(data)?.cast !== undefined;
  return encodeFileBlock(chain.block(number)!.block, hasVote ? data : EMPTY_BYTES);
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
