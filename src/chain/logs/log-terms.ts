import { addressToBytes } from "../../primitives/address.ts";
import { hashToBytes } from "../../primitives/hash.ts";
import { TABLE } from "../../storage/schema.ts";
import type { BlockLogs } from "./block-logs.ts";
import type { LogFilter } from "./log-filter.ts";
import { LOG_CHUNK_BLOCKS } from "./log-source.ts";

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
const ADDRESS = "\x01";
const TOPICS = ["\x02", "\x03", "\x04", "\x05"] as const;
const ADDRESS_BYTES = 20;
const TOPIC_BYTES = 32;
const FOLDED_BYTES = 16;

/** Each term of the logs still to come in `logs`, once. */
export function termsOfBlock(logs: BlockLogs): ReadonlySet<LogTerm> {
  const terms = new Set<LogTerm>([ANY]);
  const { bytes } = logs;
  while (logs.next()) {
    terms.add(addressTerm(bytes, logs.addressOffset));
    for (let position = 0; position < logs.topicCount; position++) {
      terms.add(topicTerm(position, bytes, logs.topicsOffset + position * TOPIC_BYTES));
    }
  }
  return terms;
}

/** Lists of terms: a log that `filter` matches has one of each list. There is at least one list. */
export function termsOfFilter({ addresses, topics }: LogFilter): readonly (readonly LogTerm[])[] {
  const lists: LogTerm[][] = [];
  if (addresses !== undefined) {
    lists.push(
      Array.from(addresses, (address) => addressTerm(Buffer.from(addressToBytes(address)), 0)),
    );
  }
  for (const [position, terms] of topics.entries()) {
    if (terms === undefined) continue;
    lists.push(
      Array.from(terms, (topic) => topicTerm(position, Buffer.from(hashToBytes(topic)), 0)),
    );
  }
  return lists.length === 0 ? [[ANY]] : lists;
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

function addressTerm(bytes: Buffer, offset: number): LogTerm {
  return ADDRESS + bytes.toString("latin1", offset, offset + ADDRESS_BYTES);
}

function topicTerm(position: number, bytes: Buffer, offset: number): LogTerm {
  const folded = Buffer.allocUnsafe(FOLDED_BYTES);
  for (let i = 0; i < FOLDED_BYTES; i++) {
    folded[i] = bytes[offset + i]! ^ bytes[offset + FOLDED_BYTES + i]!;
  }
  return TOPICS[position] + folded.toString("latin1");
}
