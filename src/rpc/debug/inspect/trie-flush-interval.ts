import { defineMethod } from "../../dispatch/method.ts";
import { json, string } from "../../params/codec.ts";
import { DebugError } from "../errors.ts";

const UNDEFINED = "trie flush interval is undefined for path-based scheme";

/**
 * `debug_getTrieFlushInterval`: as geth with its default store: the trie has no such interval. Here every block is on disk before it is seen, and
 * trie nodes follow by amount.
 *
 * @throws DebugError
 */
export const getTrieFlushInterval = defineMethod({
  name: "debug_getTrieFlushInterval",
  params: {},
  result: string,
  handle() {
    throw new DebugError(UNDEFINED);
  },
});

/** `debug_setTrieFlushInterval`: likewise. @throws DebugError */
export const setTrieFlushInterval = defineMethod({
  name: "debug_setTrieFlushInterval",
  params: { interval: string },
  result: json,
  private: true,
  handle() {
    throw new DebugError(UNDEFINED);
  },
});
