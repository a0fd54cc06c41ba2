import type * as Replaced from "../../storage/lmdb-kv.ts";
import { createMemoryKv } from "../../storage/memory-kv.ts";
import { fileTree } from "../platform/fs.ts";
import { UnsupportedInBrowserError } from "../web.ts";

/** LMDB maps files into memory, which pages cannot. The index is in memory instead, as on machines without LMDB. */
export class NativeStoreMissingError extends UnsupportedInBrowserError {
  constructor() {
    super("LMDB");
  }
}

function reject(): never {
  throw new NativeStoreMissingError();
}

export const openLmdbKv: typeof Replaced.openLmdbKv = reject;

/** In memory for a chain in memory, whose values end with it as well. */
export const openDurableLmdbKv: typeof Replaced.openDurableLmdbKv = (directory) =>
  fileTree.isDurable(directory) ? reject() : createMemoryKv();
