import { type Address, addressToBytes } from "../../base/primitives/address.ts";
import { type Hash, hashToBytes } from "../../base/primitives/hash.ts";
import type { Log } from "../../base/types/receipt.ts";
import { TABLE } from "../../store/storage/schema.ts";
import { BlockPrunedError } from "../store-errors.ts";
import type { BlockLogs, LogCursor } from "./block-logs.ts";

export type LogFilterOptions = {
  /** Empty: any address. */
  readonly addresses?: readonly Address[];
  /** By position; an empty one matches any topic, but a topic has to be there. */
  readonly topics?: readonly (readonly Hash[])[];
};

/**
 * Which logs a caller wants: the address is one of `addresses`, and for each position given the log
 * has a topic there that is one of those named (execution-apis, `Filter`).
 */
export class LogFilter {
  /** undefined: any */
  readonly addresses: ReadonlySet<Address> | undefined;
  readonly topics: readonly (ReadonlySet<Hash> | undefined)[];
  readonly #addressBytes: ByteStrings | undefined;
  readonly #topicBytes: readonly (ByteStrings | undefined)[];

  constructor({ addresses = [], topics = [] }: LogFilterOptions = {}) {
    this.addresses = addresses.length === 0 ? undefined : new Set(addresses);
    this.topics = topics.map((terms) => (terms.length === 0 ? undefined : new Set(terms)));
    this.#addressBytes = this.addresses && new ByteStrings(Array.from(this.addresses, addressToBytes));
    this.#topicBytes = this.topics.map((terms) => terms && new ByteStrings(Array.from(terms, hashToBytes)));
  }

  matches({ address, topics }: Log): boolean {
    if (this.addresses !== undefined && !this.addresses.has(address)) return false;
    return (
      topics.length >= this.topics.length &&
      this.topics.every((terms, position) => terms === undefined || terms.has(topics[position]!))
    );
  }

  /** Whether the current log of `logs` matches. */
  matchesAt({ bytes, addressOffset, topicsOffset, topicCount }: LogCursor): boolean {
    return this.matchesParts(bytes, addressOffset, topicsOffset, topicCount);
  }

  /** Whether a log of these parts matches. What tells logs of a block apart most often comes first: the last topic, and the address at the end. */
  matchesParts(bytes: Uint8Array, addressOffset: number, topicsOffset: number, topicCount: number): boolean {
    const topics = this.#topicBytes;
    if (topicCount < topics.length) return false;
    for (let position = topics.length - 1; position >= 0; position--) {
      const terms = topics[position];
      if (terms !== undefined && !terms.has(bytes, topicsOffset + position * TOPIC_BYTES)) return false;
    }
    return this.#addressBytes === undefined || this.#addressBytes.has(bytes, addressOffset);
  }

  /** Lists of terms: a log that matches has one of each list. There is at least one list. */
  indexTerms(): readonly (readonly LogTerm[])[] {
    const lists: LogTerm[][] = [];
    if (this.#addressBytes !== undefined) {
      lists.push(this.#addressBytes.strings.map((address) => addressTerm(address, 0)));
    }
    for (let position = 0; position < this.#topicBytes.length; position++) {
      const terms = this.#topicBytes[position];
      if (terms !== undefined) lists.push(terms.strings.map((topic) => topicTerm(position, topic, 0)));
    }
    return lists.length === 0 ? [[ANY]] : lists;
  }
}

/** Byte strings of one length, to be found inside larger ones without cutting those up. */
class ByteStrings {
  readonly strings: readonly Uint8Array[];
  readonly #length: number;
  /** The only one: most filters name one, and a look-up in a map takes longer than the comparison. */
  readonly #only: Uint8Array | undefined;
  /** Keyed by their last four bytes, since numbers and addresses in topics begin with zeros; undefined for a single value. */
  readonly #byTail: ReadonlyMap<number, readonly Uint8Array[]> | undefined;

  /** @param strings at least one */
  constructor(strings: readonly Uint8Array[]) {
    this.strings = strings;
    this.#length = strings[0]!.length;
    this.#only = strings.length === 1 ? strings[0] : undefined;
    this.#byTail = strings.length === 1 ? undefined : groupedByTail(strings);
  }

  has(bytes: Uint8Array, offset: number): boolean {
    if (this.#only !== undefined) return isAt(bytes, offset, this.#only);
    const candidates = this.#byTail?.get(tailAt(bytes, offset + this.#length));
    return candidates?.some((string) => isAt(bytes, offset, string)) ?? false;
  }
}

function groupedByTail(strings: readonly Uint8Array[]): ReadonlyMap<number, readonly Uint8Array[]> {
  const byTail = new Map<number, Uint8Array[]>();
  for (const string of strings) {
    const tail = tailAt(string, string.length);
    const known = byTail.get(tail);
    if (known === undefined) byTail.set(tail, [string]);
    else known.push(string);
  }
  return byTail;
}

function tailAt(bytes: Uint8Array, end: number): number {
  return bytes[end - 1]! | (bytes[end - 2]! << 8) | (bytes[end - 3]! << 16) | (bytes[end - 4]! << 24);
}

/** From the end, where most differ. */
function isAt(bytes: Uint8Array, offset: number, string: Uint8Array): boolean {
  for (let i = string.length - 1; i >= 0; i--) if (bytes[offset + i] !== string[i]) return false;
  return true;
}

/** Blocks whose logs are found together: a search goes from one such chunk to the next. */
export const LOG_CHUNK_BLOCKS = 65_536;

/** The logs of the canonical chain. */
export interface LogSource {
  /**
   * Numbers, ascending, of blocks from `from` to `to` that may hold a log `filter` matches; both in one chunk.
   * A block left out holds none.
   * @throws BlockPrunedError
   */
  candidates(filter: LogFilter, from: number, to: number): readonly number[];
  /**
   * The logs of a candidate, to be read before the source is called again; undefined when the block was rolled back meanwhile.
   * @throws KvMissingRowError, BlockPrunedError
   */
  logsOf(number: number): BlockLogs | undefined;
  /** A number that changes with each rollback: logs read under an older number may belong to removed blocks. Absent in a chain without rollbacks. */
  epoch?(): number;
}

/** `logs` without the logs of blocks before `base`, which are pruned or may be at any time. */
export function logsFrom(base: () => number, logs: LogSource, epoch: () => number): LogSource {
  const assertServed = (number: number) => {
    const oldest = base();
    if (number < oldest) throw new BlockPrunedError({ number, base: oldest });
  };
  return {
    candidates(filter, from, to) {
      assertServed(from);
      return logs.candidates(filter, from, to);
    },
    logsOf(number) {
      assertServed(number);
      return logs.logsOf(number);
    },
    epoch,
  };
}

/**
 * What a log can be found by, as bytes in latin-1 text so that it keys a Map:
 *
 *     0                       any log at all
 *     1 ‖ address
 *     2 + position ‖ topic    folded to 16 bytes: its first half XOR its second
 *
 * Two topics with one fold only share candidates, which are compared with the log itself anyway.
 */
export type LogTerm = string;

const ANY = "\0";
const ADDRESS = 1;
const TOPICS = [2, 3, 4, 5] as const;
const ADDRESS_BYTES = 20;
const TOPIC_BYTES = 32;
const FOLDED_BYTES = 16;

/** Each term of the logs still to come in `logs`, once. */
export function termsOfBlock(logs: BlockLogs): ReadonlySet<LogTerm> {
  const terms = new Set<LogTerm>();
  visitTerms(logs, (term) => terms.add(term));
  return terms;
}

/** Calls `visit` with each term of the logs still to come in `logs`; with some of them more than once. */
export function visitTerms(logs: BlockLogs, visit: (term: LogTerm) => void): void {
  visit(ANY);
  const { bytes } = logs;
  // Of the log before, whose terms were visited: mostly it has the same address and the same event.
  let lastAddress = -1;
  let lastTopics = 0;
  let lastCount = 0;
  while (logs.next()) {
    const { addressOffset, topicsOffset, topicCount } = logs;
    if (lastAddress < 0 || !isSame(bytes, addressOffset, lastAddress, ADDRESS_BYTES)) {
      visit(addressTerm(bytes, addressOffset));
    }
    for (let position = 0; position < topicCount; position++) {
      const at = topicsOffset + position * TOPIC_BYTES;
      const last = lastTopics + position * TOPIC_BYTES;
      if (position < lastCount && isSame(bytes, at, last, TOPIC_BYTES)) continue;
      visit(topicTerm(position, bytes, at));
    }
    lastAddress = addressOffset;
    lastTopics = topicsOffset;
    lastCount = topicCount;
  }
}

/** From the end, where most differ. */
function isSame(bytes: Uint8Array, a: number, b: number, length: number): boolean {
  for (let i = length - 1; i >= 0; i--) if (bytes[a + i] !== bytes[b + i]) return false;
  return true;
}

/** Key of the row that says where in `chunk` there is `term`. */
export function termRowKey(term: LogTerm, chunk: number): Uint8Array {
  const key = Buffer.allocUnsafe(1 + term.length + 4);
  key[0] = TABLE.logPosting;
  key.write(term, 1, "latin1");
  key.writeUInt32BE(chunk, 1 + term.length);
  return key;
}

/** The other way round. */
export function readTermRowKey(key: Uint8Array): {
  readonly term: LogTerm;
  readonly chunk: number;
} {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength);
  const end = bytes.length - 4;
  return { term: bytes.toString("latin1", 1, end), chunk: bytes.readUInt32BE(end) };
}

export function chunkOf(number: number): number {
  return Math.floor(number / LOG_CHUNK_BLOCKS);
}

export function offsetOf(number: number): number {
  return number % LOG_CHUNK_BLOCKS;
}

const prefixedAddress = Buffer.alloc(1 + ADDRESS_BYTES);
prefixedAddress[0] = ADDRESS;

function addressTerm(bytes: Uint8Array, offset: number): LogTerm {
  for (let i = 0; i < ADDRESS_BYTES; i++) prefixedAddress[1 + i] = bytes[offset + i]!;
  return prefixedAddress.toString("latin1");
}

const foldedTopic = Buffer.alloc(1 + FOLDED_BYTES);

function topicTerm(position: number, bytes: Uint8Array, offset: number): LogTerm {
  foldedTopic[0] = TOPICS[position]!;
  for (let i = 0; i < FOLDED_BYTES; i++) {
    foldedTopic[1 + i] = bytes[offset + i]! ^ bytes[offset + FOLDED_BYTES + i]!;
  }
  return foldedTopic.toString("latin1");
}
