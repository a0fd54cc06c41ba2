import { defineMethod } from "../dispatch/method.ts";
import { jsonInteger } from "../params/codec.ts";

/** Otterscan compares it with what it needs. */
const API_LEVEL = 8;

/** `ots_getApiLevel`: the version of the `ots` methods that this node has. */
export const getApiLevel = defineMethod({
  name: "ots_getApiLevel",
  params: {},
  result: jsonInteger,
  handle: () => API_LEVEL,
});
