import { crc32 } from "node:zlib";
import { type Hash, hashToBytes } from "../primitives/hash.ts";
import { type Hex, hexToBytes } from "../primitives/hex.ts";
import type { ChainConfig } from "./chain-config.ts";
import {
  BLOCK_FORK_FIELDS,
  type BlockForkField,
  isBlockForkActive,
  isTimeForkActive,
  TIME_FORK_FIELDS,
  type TimeForkField,
} from "./hardforks.ts";

/** EIP-2124: `hash` is 4 bytes; `next` the block or time of the next scheduled fork, 0 for none. */
type ForkId = { readonly hash: Hex; readonly next: number };

/**
 * The fork identifier of a chain whose head is block `number` at `time` (EIP-2124, EIP-6122): a checksum over the genesis hash and all passed
 * forks. Forks at block 0 or not after `genesisTime` belong to genesis and are left out.
 */
export function forkId(
  config: ChainConfig,
  genesisHash: Hash,
  genesisTime: number,
  number: number,
  time: number,
): ForkId {
  let checksum = crc32(hashToBytes(genesisHash));
  const { blocks, times } = forkSchedule(config, genesisTime);
  for (const { fork, head } of [
    ...blocks.map((fork) => ({ fork, head: number })),
    ...times.map((fork) => ({ fork, head: time })),
  ]) {
    if (fork > head) return { hash: checksumHex(checksum), next: fork };
    checksum = crc32(uint64Bytes(fork), checksum);
  }
  return { hash: checksumHex(checksum), next: 0 };
}

/** Fields of the forks that have begun at block `number` and `time`, oldest first. */
export function forksBegun(config: ChainConfig, number: number, time: number): readonly string[] {
  return [
    ...BLOCK_FORK_FIELDS.filter((field) => isBlockForkActive(config, field, number)),
    ...TIME_FORK_FIELDS.filter((field) => isTimeForkActive(config, field, time)),
  ];
}

type ForkHashesOptions = {
  /** Future fork times may change with the head, as the validators agree on them. */
  readonly config: ChainConfig;
  readonly genesisHash: Hash;
  readonly genesisTime: number;
};

/** The EIP-2124 hashes of a chain whose block forks have all passed. */
export class ForkHashes {
  readonly #options: ForkHashesOptions;
  /** Unix seconds of each time fork after block 0, and the hashes: the first covers genesis and the block forks. */
  #known: { readonly times: readonly number[]; readonly hashes: readonly Uint8Array[] };

  constructor(options: ForkHashesOptions) {
    this.#options = options;
    this.#known = hashesOf(options, this.#times());
  }

  /** Whether there are time forks after block 0. */
  get isScheduled(): boolean {
    return this.#times().length > 0;
  }

  /** Whether one of them has begun at `time`. */
  hasBegun(time: number): boolean {
    const [first] = this.#times();
    return first !== undefined && first <= time;
  }

  /** 4 bytes for blocks at `time`. */
  at(time: number): Uint8Array {
    const times = this.#times();
    const isKnown = times.length === this.#known.times.length && times.every((at, i) => at === this.#known.times[i]);
    if (!isKnown) this.#known = hashesOf(this.#options, times);
    return this.#known.hashes[times.filter((fork) => fork <= time).length]!;
  }

  #times(): readonly number[] {
    const { config, genesisTime } = this.#options;
    return schedule(config, TIME_FORK_FIELDS, genesisTime);
  }
}

function hashesOf({ config, genesisHash, genesisTime }: ForkHashesOptions, times: readonly number[]) {
  const hashes = [genesisTime, ...times].map((time) =>
    hexToBytes(forkId(config, genesisHash, genesisTime, Number.MAX_SAFE_INTEGER, time).hash),
  );
  return { times, hashes };
}

/** Blocks and times (Unix seconds) of the forks after genesis, each ascending and distinct. */
export function forkSchedule(
  config: ChainConfig,
  genesisTime: number,
): { readonly blocks: readonly number[]; readonly times: readonly number[] } {
  return {
    blocks: schedule(config, BLOCK_FORK_FIELDS, 0),
    times: schedule(config, TIME_FORK_FIELDS, genesisTime),
  };
}

/** The distinct values of `fields` after `start`, ascending. */
function schedule(config: ChainConfig, fields: readonly (BlockForkField | TimeForkField)[], start: number): number[] {
  const forks = new Set<number>();
  for (const field of fields) {
    const at = config[field];
    if (at !== undefined && at > start) forks.add(at);
  }
  return Array.from(forks).sort((a, b) => a - b);
}

function uint64Bytes(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

function checksumHex(checksum: number): Hex {
  return `0x${checksum.toString(16).padStart(8, "0")}`;
}
