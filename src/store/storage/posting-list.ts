import { allocateShared } from "../../base/primitives/slab.ts";
import { ByteReader, varintLength, writeVarint } from "./byte-io.ts";

/**
 * Where the versions of one key are: block numbers, ascending, each with the log position of the
 * value that block gave the key. Held flat, number and position in turn.
 *
 *     chunk     varint number ‖ varint position ‖ (varint number − last number ‖ varint position − last position)*
 *
 * Positions ascend with numbers because the log is only ever appended to.
 */
export type PostingList = number[];

/** A chunk with this many versions is full: long enough to make rows few, short enough to decode in a microsecond. */
export const CHUNK_VERSIONS = 64;

export type Version = { readonly number: number; readonly position: number };

export function encodePostingList(list: readonly number[]): Uint8Array {
  let length = 0;
  for (let i = 0; i < list.length; i++) length += varintLength(deltaAt(list, i));
  const chunk = allocateShared(length);
  let at = 0;
  for (let i = 0; i < list.length; i++) at = writeVarint(deltaAt(list, i), chunk, at);
  return chunk;
}

/** What a chunk has of number or position `i` of a list. */
function deltaAt(list: readonly number[], i: number): number {
  return i < 2 ? list[i]! : list[i]! - list[i - 2]!;
}

/** @throws MalformedBytesError */
export function decodePostingList(chunk: Uint8Array): PostingList {
  const reader = new ByteReader(chunk);
  const list: PostingList = [];
  let number = 0;
  let position = 0;
  while (!reader.atEnd) {
    number += reader.varint();
    position += reader.varint();
    list.push(number, position);
  }
  return list;
}

/** The newest version in `list` that is not newer than block `number`. */
export function versionAt(list: readonly number[], number: number): Version | undefined {
  const after = indexAfter(list, number);
  return after === 0 ? undefined : { number: list[after - 2]!, position: list[after - 1]! };
}

/** `list` without what is newer than block `number`. */
export function versionsUpTo(list: readonly number[], number: number): PostingList {
  return list.slice(0, indexAfter(list, number));
}

/** `list` without what is older than block `number`. */
export function versionsFrom(list: readonly number[], number: number): PostingList {
  return list.slice(indexAfter(list, number - 1));
}

/** `list` followed by those of `newer` that are newer than its last. */
export function appendVersions(list: readonly number[], newer: readonly number[]): PostingList {
  return list.concat(newer.slice(indexAfter(newer, list.at(-2) ?? -1)));
}

/** Flat index of the first version newer than block `number`. */
function indexAfter(list: readonly number[], number: number): number {
  let low = 0;
  let high = list.length >> 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle * 2]! <= number) low = middle + 1;
    else high = middle;
  }
  return low * 2;
}
