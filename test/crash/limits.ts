import { NativeStoreMissingError, openLmdbKv } from "../../src/storage/lmdb-kv.ts";

/** LMDB, or as where its native code is not installed: the index is in memory. */
export type IndexKind = "lmdb" | "memory";

export function openIndexOf(kind: IndexKind): typeof openLmdbKv {
  if (kind === "lmdb") return openLmdbKv;
  return () => {
    throw new NativeStoreMissingError(new Error("left out"));
  };
}

/** Small, so that a few blocks begin segments and merge history. */
export const STORE_LIMITS = {
  segmentBytesMax: 12_000,
  mergeLimits: { versionsMin: 30, nodeBytesMin: 20_000, blocksMin: 8, keysMax: 5 },
};
