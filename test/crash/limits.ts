import { NativeStoreMissingError, openLmdbKv } from "../../src/store/storage/lmdb/lmdb-kv.ts";

/** LMDB, or as where its native code is not installed: the index is in memory. */
type IndexKind = "lmdb" | "memory";

function openIndexOf(kind: IndexKind): typeof openLmdbKv {
  if (kind === "lmdb") return openLmdbKv;
  return () => {
    throw new NativeStoreMissingError(new Error("left out"));
  };
}

/** With retention old blocks are removed all the time. */
export type HomeKind = IndexKind | "retention";

/** Store options of a kind of home. */
export function storeOptions(kind: HomeKind) {
  if (kind !== "retention") return { ...STORE_LIMITS, openIndex: openIndexOf(kind) };
  return { ...STORE_LIMITS, retention: { blocks: 30, states: 20, proofs: 10, blocksMin: 4 } };
}

/** Small, so that a few blocks begin segments, merge history and have rows written that waited. */
const STORE_LIMITS = {
  bufferLimits: { rowsMax: 10, bytesMax: 100_000, sliceRows: 6 },
  segmentBytesMax: 12_000,
  mergeLimits: {
    versionsMin: 30,
    nodeBytesMin: 20_000,
    blocksMin: 8,
    keysMax: 5,
    logs: { blocksMin: 8, postingsMin: 60, logBytesMin: 6_000, rowsMax: 20 },
  },
};
