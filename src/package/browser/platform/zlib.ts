import { concatBytes } from "../../../base/primitives/bytes.ts";
import { UnsupportedInBrowserError } from "../unsupported.ts";
import { Buffer } from "./buffer.ts";

/** The part of `node:zlib` that this node uses: the checksum here, compression by the browser's streams. */

const POLYNOMIAL = 0xedb88320;

/** Sums of a byte followed by 0 to 7 zero bytes: eight bytes are summed at once. */
const TABLES = makeTables();

function makeTables(): readonly Uint32Array[] {
  const first = Uint32Array.from({ length: 256 }, (_, byte) => {
    let sum = byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1;
    return sum;
  });
  const tables = [first];
  for (let i = 1; i < 8; i++) {
    tables.push(tables[i - 1]!.map((sum) => first[sum & 255]! ^ (sum >>> 8)));
  }
  return tables;
}

const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES as [
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
];

/** CRC-32 of `data` after bytes whose sum is `seed`. */
export function crc32(data: Uint8Array, seed = 0): number {
  let sum = ~seed;
  let at = 0;
  for (const end = data.length - 7; at < end; at += 8) {
    sum ^= data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24);
    sum =
      t7[sum & 255]! ^
      t6[(sum >>> 8) & 255]! ^
      t5[(sum >>> 16) & 255]! ^
      t4[sum >>> 24]! ^
      t3[data[at + 4]!]! ^
      t2[data[at + 5]!]! ^
      t1[data[at + 6]!]! ^
      t0[data[at + 7]!]!;
  }
  for (; at < data.length; at++) sum = t0[(sum ^ data[at]!) & 255]! ^ (sum >>> 8);
  return ~sum >>> 0;
}

type Callback = (error: unknown, result?: Uint8Array) => void;
type Options = { readonly maxOutputLength?: number };

export function gzip(data: Uint8Array | string, done: Callback): void {
  report(transform(data, new CompressionStream("gzip")), done);
}

export function gunzip(data: Uint8Array, { maxOutputLength }: Options, done: Callback): void {
  report(transform(data, new DecompressionStream("gzip"), maxOutputLength), done);
}

/** The browser chooses the compression level. */
export function deflateRaw(data: Uint8Array, _options: object, done: Callback): void {
  report(transform(data, new CompressionStream("deflate-raw")), done);
}

/** Only nodes that join a network read snapshots. @throws UnsupportedInBrowserError */
export function inflateRawSync(): never {
  throw new UnsupportedInBrowserError("a snapshot of another node");
}

function report(result: Promise<Uint8Array>, done: Callback): void {
  result.then((bytes) => done(null, bytes), done);
}

async function transform(
  data: Uint8Array | string,
  by: CompressionStream | DecompressionStream,
  bytesMax = Infinity,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const source = new Blob([data as Uint8Array<ArrayBuffer> | string]).stream();
  for await (const part of source.pipeThrough(by as ReadableWritablePair)) {
    length += part.length;
    if (length > bytesMax) throw new RangeError(`more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.from(concatBytes(...parts));
}
type ReadableWritablePair = {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
};
