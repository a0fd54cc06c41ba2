import { defineMethod } from "../dispatch/method.ts";
import { json } from "../params/codec.ts";

/** Go's names, as Erigon encodes the result; of a node without the cache that Erigon's RPC daemon holds of the state. */
const NO_CACHE = {
  RequestCancelled: false,
  Enabled: false,
  LatestStateBehind: false,
  CacheCleared: false,
  LatestStateID: 0,
  StateKeysOutOfSync: null,
  CodeKeysOutOfSync: null,
};

/** `erigon_cacheCheck`: whether Erigon's cache of the state agrees with the state; there is no such cache here, so `Enabled` is false. */
export const cacheCheck = defineMethod({
  name: "erigon_cacheCheck",
  params: {},
  result: json,
  handle: () => NO_CACHE,
});
