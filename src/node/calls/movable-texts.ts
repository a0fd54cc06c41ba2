import type { TraceText } from "../../evm/tracing/json-writer.ts";

/**
 * Texts with fewer characters in total are copied, within tenths of a millisecond. Many short texts, such as the traces of a block, take longer
 * as views of a transferred buffer.
 */
const MOVED_CHARS_MIN = 1 << 20;
/** Texts share a buffer up to this size. */
const CHUNK_BYTES = 1 << 20;

/** The answer of a tracing method of `ExecutionReads`. */
type Traces = TraceText | readonly (TraceText | TraceItem)[];
type TraceItem = { readonly txHash: string; readonly result?: TraceText };

/**
 * The result of a tracing method for another thread: large texts as bytes in transferable buffers. Both threads would copy a string, and the
 * thread that serves the request would encode it again.
 */
export function movableTexts(traces: Traces): {
  readonly value: Traces;
  readonly buffers: readonly ArrayBuffer[];
} {
  const buffers = new Set<ArrayBuffer>();
  const texts: string[] = [];
  const visit = (change: (text: string) => TraceText) => {
    const visitText = (text: TraceText): TraceText => {
      if (typeof text === "string") return change(text);
      for (const { buffer } of text) if (buffer instanceof ArrayBuffer) buffers.add(buffer);
      return text;
    };
    const visitItem = (item: TraceText | TraceItem) => {
      if (isText(item)) return visitText(item);
      return item.result === undefined ? item : { ...item, result: visitText(item.result) };
    };
    return isText(traces) ? visitText(traces) : traces.map(visitItem);
  };
  const collect = (text: string) => {
    texts.push(text);
    return text;
  };
  const copied = visit(collect);
  const chars = texts.reduce((sum, { length }) => sum + length, 0);
  if (chars < MOVED_CHARS_MIN) return { value: copied, buffers: [...buffers] };
  const encoder = new ChunkEncoder(texts);
  const value = visit((text) => [encoder.encode(text)]);
  for (const buffer of encoder.buffers) buffers.add(buffer);
  return { value, buffers: [...buffers] };
}

/** Encodes texts into buffers of exactly their size: V8 runs full collections because of external memory. */
class ChunkEncoder {
  readonly buffers: ArrayBuffer[] = [];
  readonly #encoder = new TextEncoder();
  /** Bytes of the texts yet to be encoded. */
  #left: number;
  /** The free part of the last buffer. */
  #chunk = new Uint8Array(0);

  /** @param texts all texts that `encode` will get */
  constructor(texts: readonly string[]) {
    this.#left = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  }

  encode(text: string): Uint8Array {
    const length = Buffer.byteLength(text);
    if (this.#chunk.length < length) {
      const buffer = new ArrayBuffer(Math.max(length, Math.min(this.#left, CHUNK_BYTES)));
      this.buffers.push(buffer);
      this.#chunk = new Uint8Array(buffer);
    }
    this.#encoder.encodeInto(text, this.#chunk);
    const bytes = this.#chunk.subarray(0, length);
    this.#chunk = this.#chunk.subarray(length);
    this.#left -= length;
    return bytes;
  }
}

function isText(item: Traces | TraceItem): item is TraceText {
  if (typeof item === "string") return true;
  return Array.isArray(item) && item.every((piece) => piece instanceof Uint8Array);
}
