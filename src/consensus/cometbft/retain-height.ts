import { commitTimeoutMs, TRUST_HOURS } from "./engine-config.ts";
import { EVIDENCE_AGE_BLOCKS } from "./engine-genesis.ts";

export type RetainOptions = {
  /** Newest blocks that the chain stores; null: all of them. */
  readonly retainBlocks: number | null;
  readonly blockTimeMs: number;
};

export type RetainHeights = {
  /** Of the newest block. */
  readonly height: number;
  /** Of the first block in CometBFT's store. */
  readonly earliest: number;
  /** Of the oldest snapshot that this node offers; undefined where there is none. */
  readonly oldestSnapshot: number | undefined;
};

/** CometBFT removes blocks while it commits one: so many take it some ten milliseconds. */
const BLOCKS_AT_A_TIME = 1_000;

/**
 * The height before which CometBFT removes its blocks, 0 where it keeps what it has. It follows the retention of the chain, but keeps what others
 * need: blocks that evidence can name, headers and validators from which a light client begins, and the blocks after each snapshot. CometBFT itself
 * keeps headers and commits for evidence as long as the parameters of its chain say.
 */
export function retainHeight(
  { retainBlocks, blockTimeMs }: RetainOptions,
  { height, earliest, oldestSnapshot = height }: RetainHeights,
): number {
  if (retainBlocks === null) return 0;
  const trusted = Math.ceil((TRUST_HOURS * 3_600_000) / commitTimeoutMs(blockTimeMs));
  const retained = Math.max(retainBlocks, EVIDENCE_AGE_BLOCKS, trusted);
  const wanted = Math.min(height - retained + 1, oldestSnapshot, earliest + BLOCKS_AT_A_TIME);
  return wanted > earliest ? wanted : 0;
}
