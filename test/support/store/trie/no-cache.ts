import type { NodeCache } from "../../../../src/store/trie/node-cache.ts";

/** Every node is read from the store each time. */
export const NO_CACHE: NodeCache = {
  bytes: 0,
  get: () => undefined,
  take: () => undefined,
  set() {},
  add() {},
};
