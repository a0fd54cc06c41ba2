import { andThen } from "../../../base/threads/maybe-promise.ts";
import { json } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";

/** `debug_clearTxpool`: removes every transaction from the pool of this node, and from its journal. */
export const clearTxpool = defineMethod({
  name: "debug_clearTxpool",
  params: {},
  result: json,
  private: true,
  handle: (_params, { node }) => andThen(node.clearPool(), () => null),
});

/** `debug_discoveryV4Table`: null, as in geth without discovery, because peers are configured. */
export const discoveryV4Table = defineMethod({
  name: "debug_discoveryV4Table",
  params: {},
  result: json,
  handle: () => null,
});
