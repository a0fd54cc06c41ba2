import { json, nothing } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";

/** `debug_clearTxpool`: removes every transaction from the pool of this node, and from its journal. */
export const clearTxpool = defineMethod({
  name: "debug_clearTxpool",
  params: {},
  result: nothing,
  private: true,
  handle: (_params, { node }) => node.clearPool(),
});

/** `debug_discoveryV4Table`: null, as in geth without discovery, because peers are configured. */
export const discoveryV4Table = defineMethod({
  name: "debug_discoveryV4Table",
  params: {},
  result: json,
  handle: () => null,
});
