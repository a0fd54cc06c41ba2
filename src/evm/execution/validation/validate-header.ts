import { blobParamsAt } from "../../../base/params/blob-schedule.ts";
import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { gasLimitBase, nextBaseFee, nextExcessBlobGas, nextGasLimit } from "../../../base/params/fees.ts";
import { BLOCK_GAS_LIMIT_BOUND_DIVISOR, BLOCK_GAS_LIMIT_MIN, GAS_PER_BLOB } from "../../../base/params/gas.ts";
import {
  type BlockForkField,
  type Hardfork,
  hardforkAt,
  isBlockForkActive,
  isPostMerge,
  RULES_AT,
} from "../../../base/params/hardforks.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Block } from "../../../base/types/block.ts";
import { EMPTY_UNCLES_HASH } from "../../../base/types/constants.ts";
import type { Header } from "../../../base/types/header.ts";
import { headerHash } from "../../../base/types/header-codec.ts";
import type { OpenHeader } from "../block-context.ts";
import { InvalidBlockError, rejectBlock } from "../errors.ts";

const EXTRA_DATA_SIZE_MAX = 32;
const GAS_LIMIT_MAX = 2n ** 63n - 1n;

type HeaderRules = {
  /** A chain with several blocks a second repeats timestamps; Ethereum's never do. */
  readonly isEqualTimeAllowed?: boolean;
  /** Gas limit and base fee were set by hand, so the parent says nothing about them. */
  readonly areFeesForced?: boolean;
};

/**
 * Checks a header against its parent, in geth's order: every rule that needs neither body nor execution.
 * Of a proof-of-work block everything is checked but the seal itself (nonce and mixHash).
 * @throws InvalidBlockError
 */
export function validateHeader(
  header: Header,
  parent: Header,
  config: ChainConfig,
  rules: Pick<HeaderRules, "isEqualTimeAllowed"> = {},
): void {
  checkForkIsKnown(header, config);
  const isProofOfStake = isPostMerge(config, header);
  const hardfork = hardforkAt(config, header);
  checkExtraData(header);
  if (isProofOfStake) checkNoProofOfWork(header);
  checkTime(header, parent, isProofOfStake, rules);
  checkDifficulty(header, parent, config);
  checkGas(header.gasLimit, header.gasUsed);
  if (header.number !== parent.number + 1) rejectBlock("BLOCK_INVALID_BLOCK_NUMBER", "invalid block number");
  const before = gasLimitBase(parent, config);
  checkGasLimit(header.gasLimit, before);
  checkGasLimitTarget(header.gasLimit, before, config);
  checkBaseFee(header, parent, config, RULES_AT[hardfork].london);
  checkPresence(header, "withdrawalsRoot", RULES_AT[hardfork].shanghai);
  checkBlobGas(header, parent, config, hardfork);
  checkPresence(header, "requestsHash", RULES_AT[hardfork].prague);
  checkAmsterdamFields(header, RULES_AT[hardfork].amsterdam);
}

/**
 * Checks what a proposer chooses for a header that this program made of it: its other fields follow from the parent's.
 * @throws InvalidBlockError
 */
export function validateAttributes(
  header: OpenHeader & Pick<Header, "extraData">,
  parent: Header,
  config: ChainConfig,
  rules: HeaderRules,
): void {
  checkForkIsKnown(header, config);
  checkExtraData(header);
  checkTime(header, parent, true, rules);
  checkDifficulty(header, parent, config);
  checkGas(header.gasLimit, 0n);
  if (rules.areFeesForced) return;
  const before = gasLimitBase(parent, config);
  checkGasLimit(header.gasLimit, before);
  checkGasLimitTarget(header.gasLimit, before, config);
}

/** EIP-7928, EIP-7843. The slot is not held against the parent's: the consensus layer does that. */
function checkAmsterdamFields({ blockAccessListHash, slotNumber }: Header, isAmsterdam: boolean): void {
  if (!isAmsterdam) {
    if (blockAccessListHash !== undefined) {
      rejectBlock("BLOCK_INCORRECT_BLOCK_FORMAT", "block had access list before Amsterdam");
    }
    if (slotNumber !== undefined) {
      rejectBlock("BLOCK_INCORRECT_BLOCK_FORMAT", `invalid slotNumber: have ${slotNumber}, expected nil`);
    }
    return;
  }
  if (blockAccessListHash === undefined) {
    rejectBlock("BLOCK_INCORRECT_BLOCK_FORMAT", "header is missing block access list hash");
  }
  if (slotNumber === undefined) rejectBlock("BLOCK_INCORRECT_BLOCK_FORMAT", "header is missing slotNumber");
}

/** The gas limit moves by less than 1/1024 of the parent's and never below 5000. */
export function checkGasLimit(gasLimit: bigint, parentGasLimit: bigint): void {
  const bound = parentGasLimit / BLOCK_GAS_LIMIT_BOUND_DIVISOR;
  const difference = gasLimit > parentGasLimit ? gasLimit - parentGasLimit : parentGasLimit - gasLimit;
  if (difference >= bound) {
    rejectBlock(
      "BLOCK_INVALID_GASLIMIT",
      `invalid gas limit: have ${gasLimit}, want ${parentGasLimit} +/- ${bound - 1n}`,
    );
  }
  if (gasLimit < BLOCK_GAS_LIMIT_MIN) {
    rejectBlock("BLOCK_INVALID_GASLIMIT", `invalid gas limit below ${BLOCK_GAS_LIMIT_MIN}`);
  }
}

/** Where the validators agreed on a target, the proposer has no choice. */
function checkGasLimitTarget(gasLimit: bigint, parentGasLimit: bigint, { gasLimitTarget }: ChainConfig): void {
  if (gasLimitTarget === undefined) return;
  const want = nextGasLimit(parentGasLimit, gasLimitTarget);
  if (gasLimit !== want) {
    rejectBlock(
      "BLOCK_INVALID_GASLIMIT",
      `invalid gas limit: have ${gasLimit}, want ${want} on the way to the agreed ${gasLimitTarget}`,
    );
  }
}

/** A fork begins that this program does not know: a later version executes the block. */
function checkForkIsKnown({ number, timestamp }: OpenHeader, { unknownFork }: ChainConfig): void {
  if (unknownFork === undefined || timestamp < unknownFork.time) return;
  const { name, time } = unknownFork;
  throw new InvalidBlockError(
    "BLOCK_UNKNOWN_FORK",
    `block ${number} is after ${name} ${time}, a fork that the validators agreed on and this program does not know: install a version of evmintd that does`,
    { number, name, time },
  );
}

function checkExtraData({ extraData }: Pick<Header, "extraData">): void {
  if (extraData.length > EXTRA_DATA_SIZE_MAX) {
    rejectBlock(
      "BLOCK_EXTRA_DATA_TOO_BIG",
      `extra-data longer than ${EXTRA_DATA_SIZE_MAX} bytes (${extraData.length})`,
    );
  }
}

/** EIP-3675 */
function checkNoProofOfWork({ nonce, sha3Uncles }: Header): void {
  if (nonce.some((byte) => byte !== 0)) rejectBlock("BLOCK_INVALID_NONCE", "invalid nonce");
  if (sha3Uncles !== EMPTY_UNCLES_HASH) {
    rejectBlock("BLOCK_IMPORT_IMPOSSIBLE_UNCLES_OVER_PARIS", "invalid uncle hash");
  }
}

function checkTime(
  { timestamp }: OpenHeader,
  parent: Header,
  isProofOfStake: boolean,
  { isEqualTimeAllowed }: HeaderRules,
): void {
  if (timestamp > parent.timestamp || (isEqualTimeAllowed && timestamp === parent.timestamp)) return;
  const text = isProofOfStake ? "invalid timestamp" : "timestamp older than parent";
  throw new InvalidBlockError("BLOCK_INVALID_BLOCK_TIMESTAMP_OLDER_THAN_PARENT", text, {
    timestamp,
    parentTimestamp: parent.timestamp,
  });
}

function checkDifficulty(header: OpenHeader, parent: Header, config: ChainConfig): void {
  const want =
    isPostMerge(config, header) && config.terminalTotalDifficulty !== undefined
      ? 0n
      : nextDifficulty(header.timestamp, parent, config);
  if (header.difficulty !== want) {
    rejectBlock("BLOCK_INVALID_DIFFICULTY", `invalid difficulty: have ${header.difficulty}, want ${want}`);
  }
}

function checkGas(gasLimit: bigint, gasUsed: bigint): void {
  if (gasLimit > GAS_LIMIT_MAX) {
    rejectBlock("BLOCK_INVALID_GASLIMIT", `invalid gasLimit: have ${gasLimit}, max ${GAS_LIMIT_MAX}`);
  }
  if (gasUsed > gasLimit) {
    rejectBlock("BLOCK_GAS_USED_OVERFLOW", `invalid gasUsed: have ${gasUsed}, gasLimit ${gasLimit}`);
  }
}

/** EIP-1559 */
function checkBaseFee(header: Header, parent: Header, config: ChainConfig, isLondon: boolean): void {
  checkPresence(header, "baseFeePerGas", isLondon);
  if (!isLondon) return;
  const want = nextBaseFee(parent, config);
  if (header.baseFeePerGas !== want) {
    rejectBlock(
      "BLOCK_INVALID_BASEFEE_PER_GAS",
      `invalid baseFee: have ${header.baseFeePerGas}, want ${want}, parentBaseFee ${parent.baseFeePerGas ?? 0n}, parentGasUsed ${parent.gasUsed}`,
    );
  }
}

/** EIP-4844, EIP-4788 */
function checkBlobGas(header: Header, parent: Header, config: ChainConfig, hardfork: Hardfork): void {
  const isCancun = RULES_AT[hardfork].cancun;
  for (const field of ["blobGasUsed", "excessBlobGas", "parentBeaconBlockRoot"] as const) {
    checkPresence(header, field, isCancun);
  }
  const params = blobParamsAt(config, header.timestamp);
  if (!isCancun || params === undefined) return;
  const { blobGasUsed = 0n, excessBlobGas } = header;
  const max = BigInt(params.max) * GAS_PER_BLOB;
  if (blobGasUsed > max) {
    rejectBlock("BLOCK_BLOB_GAS_USED_ABOVE_LIMIT", `blob gas used ${blobGasUsed} exceeds maximum allowance ${max}`);
  }
  if (blobGasUsed % GAS_PER_BLOB !== 0n) {
    rejectBlock(
      "BLOCK_INCORRECT_BLOB_GAS_USED",
      `blob gas used ${blobGasUsed} not a multiple of blob gas per blob ${GAS_PER_BLOB}`,
    );
  }
  const want = nextExcessBlobGas(parent, params, RULES_AT[hardfork].osaka);
  if (excessBlobGas !== want) {
    rejectBlock("BLOCK_INCORRECT_EXCESS_BLOB_GAS", `invalid excessBlobGas: have ${excessBlobGas}, want ${want}`);
  }
}

/** A field is present exactly from the fork that introduced it. */
function checkPresence(header: Header, field: keyof Header, expected: boolean): void {
  if ((header[field] !== undefined) === expected) return;
  const text = expected ? `missing ${field}` : `invalid ${field}: have ${header[field]}, expected nil`;
  rejectBlock("BLOCK_INCORRECT_BLOCK_FORMAT", text);
}

const DIFFICULTY_MIN = 131_072n;
const BOUND_DIVISOR = 2_048n;
/** Blocks between two doublings of the difficulty bomb. */
const BOMB_PERIOD = 100_000n;

/** Total number of blocks by which each fork delays the difficulty bomb, newest first: EIP-5133, 4345, 3554, 2384, 1234, 649. */
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

/** The number of steps up or down, at most 99 down. */
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

const UNCLES_MAX = 2;
/** An uncle's parent is at most this many generations above the block. */
const GENERATIONS_MAX = 7;

/** A block of the same chain by its hash, for looking back a few generations. */
export type AncestorLookup = (hash: Hash) => Block | undefined;

/**
 * Uncles of a proof-of-work block (Yellow Paper 11.1): at most two, each a valid header whose parent is an ancestor of the
 * block, none named before.
 * @throws InvalidBlockError
 */
export function validateUncles(block: Block, config: ChainConfig, ancestor: AncestorLookup): void {
  if (block.uncles.length === 0) return;
  if (block.uncles.length > UNCLES_MAX) rejectUncles("too many uncles");
  const ancestors = new Map<Hash, Header>();
  const known = new Set<Hash>([block.hash]);
  let hash = block.header.parentHash;
  for (let generation = 0; generation < GENERATIONS_MAX; generation++) {
    const older = ancestor(hash);
    if (older === undefined) break;
    ancestors.set(hash, older.header);
    for (const uncle of older.uncles) known.add(headerHash(uncle));
    hash = older.header.parentHash;
  }
  for (const uncle of block.uncles) {
    const uncleHash = headerHash(uncle);
    if (known.has(uncleHash)) rejectUncles("duplicate uncle");
    known.add(uncleHash);
    if (ancestors.has(uncleHash)) rejectUncles("uncle is ancestor");
    const parent = ancestors.get(uncle.parentHash);
    if (parent === undefined || uncle.parentHash === block.header.parentHash) {
      rejectUncles("uncle's parent is not ancestor");
    }
    validateHeader(uncle, parent, config);
  }
}

function rejectUncles(message: string): never {
  rejectBlock("BLOCK_INVALID_UNCLES", message);
}
