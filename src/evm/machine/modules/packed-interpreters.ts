import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

/** Modules one after the other, compressed together: they share most of their bytes, so that three take the room of one and a third. */
export type PackedInterpreters = {
  readonly sizes: Readonly<Record<string, number>>;
  /** Base64. */
  readonly compressed: string;
};

export function packInterpreters(modules: Readonly<Record<string, Uint8Array>>): PackedInterpreters {
  const bytes = Buffer.concat(Object.values(modules));
  // The default window is smaller than two modules.
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  return {
    sizes: Object.fromEntries(Object.entries(modules).map(([key, { length }]) => [key, length])),
    compressed: brotliCompressSync(bytes, { params }).toString("base64"),
  };
}

/** @returns a function that finds a module by its key, and decompresses them all each time: a process asks for one or two */
export function unpackInterpreters({ sizes, compressed }: PackedInterpreters) {
  return (key: string): Uint8Array | undefined => {
    if (!Object.hasOwn(sizes, key)) return undefined;
    const bytes = brotliDecompressSync(Buffer.from(compressed, "base64"));
    let start = 0;
    for (const [each, size] of Object.entries(sizes)) {
      if (each === key) return bytes.subarray(start, start + size);
      start += size;
    }
    return undefined;
  };
}
