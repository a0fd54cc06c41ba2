import type { ChainConfig } from "../../params/chain-config.ts";
import { type BlockForkField, isBlockForkActive } from "../../params/hardfork-at.ts";
import { EMPTY_UNCLES_HASH } from "../../types/constants.ts";
import type { Header } from "../../types/header.ts";

const DIFFICULTY_MIN = 131_072n;
const BOUND_DIVISOR = 2_048n;
/** Blocks between two doublings of the difficulty bomb. */
const BOMB_PERIOD = 100_000n;

/** How many blocks each fork has pushed the bomb back by in all, newest first: EIP-5133, 4345, 3554, 2384, 1234, 649. */
const BOMB_DELAYS = [
  ["grayGlacierBlock", 11_400_000n],
  ["arrowGlacierBlock", 10_700_000n],
  ["londonBlock", 9_700_000n],
  ["muirGlacierBlock", 9_000_000n],
  ["constantinopleBlock", 5_000_000n],
  ["byzantiumBlock", 3_000_000n],
] as const satisfies readonly (readonly [BlockForkField, bigint])[];

/** Difficulty a proof-of-work block at `timestamp` must have after `parent` (Yellow Paper 4.3.4; EIP-2, EIP-100). */
export function nextDifficulty(timestamp: number, parent: Header, config: ChainConfig): bigint {
  const number = parent.number + 1;
  const step = parent.difficulty / BOUND_DIVISOR;
  const delay = BOMB_DELAYS.find(([field]) => isBlockForkActive(config, field, number))?.[1] ?? 0n;
  const adjusted = parent.difficulty + step * sign(timestamp, parent, config);
  const floored = adjusted < DIFFICULTY_MIN ? DIFFICULTY_MIN : adjusted;
  const withBomb = floored + bomb(BigInt(number) - delay);
  return withBomb < DIFFICULTY_MIN ? DIFFICULTY_MIN : withBomb;
}

/** How many steps up or down, at most 99 down. */
function sign(timestamp: number, parent: Header, config: ChainConfig): bigint {
  const number = parent.number + 1;
  const elapsed = timestamp - parent.timestamp;
  if (!isBlockForkActive(config, "homesteadBlock", number)) return elapsed < 13 ? 1n : -1n;
  const steps = isBlockForkActive(config, "byzantiumBlock", number)
    ? (parent.sha3Uncles === EMPTY_UNCLES_HASH ? 1 : 2) - Math.floor(elapsed / 9)
    : 1 - Math.floor(elapsed / 10);
  return BigInt(Math.max(steps, -99));
}

/** What the bomb adds at block `number`, counted with its delay. */
function bomb(number: bigint): bigint {
  const period = number / BOMB_PERIOD;
  return period < 2n ? 0n : 2n ** (period - 2n);
}
