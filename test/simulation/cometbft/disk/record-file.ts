import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";

/** Length of the body, then its CRC-32. */
const HEAD_BYTES = 8;

/** A record in the file: where its body is. */
export type RecordPlace = { readonly at: number; readonly bytes: number };

/**
 * A file of records that only grows. A record is whole or not there: what follows the last whole one when it is opened was torn by a crash and is cut off.
 *
 *     length of the body, 4 bytes | CRC-32 of the body, 4 bytes | body
 */
export class RecordFile {
  readonly path: string;
  #file: number;
  #end: number;

  /** @param onRecord called for each record that is there */
  constructor(path: string, onRecord: (body: Uint8Array, place: RecordPlace) => void) {
    this.path = path;
    const isNew = !existsSync(path);
    this.#file = openSync(path, isNew ? "w+" : "r+");
    if (isNew) {
      syncDirectory(dirname(path));
      // The folder can be as new as the file.
      syncDirectory(dirname(dirname(path)));
    }
    this.#end = readRecords(path, onRecord);
    if (statSync(path).size > this.#end) {
      ftruncateSync(this.#file, this.#end);
      fsyncSync(this.#file);
    }
  }

  get size(): number {
    return this.#end;
  }

  append(...bodies: readonly Uint8Array[]): RecordPlace {
    const bytes = withHeads(bodies);
    writeSync(this.#file, bytes, 0, bytes.length, this.#end);
    const last = bodies.at(-1)!.length;
    this.#end += bytes.length;
    return { at: this.#end - last, bytes: last };
  }

  sync(): void {
    fsyncSync(this.#file);
  }

  read({ at, bytes }: RecordPlace): Uint8Array {
    const body = Buffer.alloc(bytes);
    readSync(this.#file, body, 0, bytes, at);
    return body;
  }

  /** Replaces all records durably, at once. @returns where the new ones are */
  replace(bodies: readonly Uint8Array[]): readonly RecordPlace[] {
    const bytes = withHeads(bodies);
    replaceDurably(this.path, bytes);
    closeSync(this.#file);
    this.#file = openSync(this.path, "r+");
    this.#end = 0;
    return bodies.map((body) => {
      const at = this.#end + HEAD_BYTES;
      this.#end = at + body.length;
      return { at, bytes: body.length };
    });
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Writes a file so that a power cut leaves the old one or the new one. */
export function replaceDurably(path: string, bytes: Uint8Array | string): void {
  const temporary = `${path}.tmp`;
  const file = openSync(temporary, "w", 0o600);
  writeFileSync(file, bytes);
  fsyncSync(file);
  closeSync(file);
  renameSync(temporary, path);
  syncDirectory(dirname(path));
}

function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  fsyncSync(directory);
  closeSync(directory);
}

function withHeads(bodies: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.allocUnsafe(bodies.reduce((sum, { length }) => sum + HEAD_BYTES + length, 0));
  let at = 0;
  for (const body of bodies) {
    bytes.writeUInt32LE(body.length, at);
    bytes.writeUInt32LE(crc32(body), at + 4);
    bytes.set(body, at + HEAD_BYTES);
    at += HEAD_BYTES + body.length;
  }
  return bytes;
}

/** @returns where the last whole record ends */
function readRecords(path: string, onRecord: (body: Uint8Array, place: RecordPlace) => void): number {
  const all = readFileSync(path);
  let at = 0;
  while (at + HEAD_BYTES <= all.length) {
    const start = at + HEAD_BYTES;
    const end = start + all.readUInt32LE(at);
    // Sectors that a power cut took are zeros, whose sum is right for no body; no record is empty.
    if (end === start || end > all.length) break;
    const body = all.subarray(start, end);
    if (all.readUInt32LE(at + 4) !== crc32(body)) break;
    onRecord(body, { at: start, bytes: body.length });
    at = end;
  }
  return at;
}
