import { andThen } from "../../../base/threads/maybe-promise.ts";
import { boolean, jsonInteger, string } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";

/** `net_version`: the network id as a decimal string. */
export const version = defineMethod({
  name: "net_version",
  params: {},
  result: string,
  handle: (_params, { node }) => andThen(node.info(), ({ networkId }) => networkId.toString()),
});

/** `net_listening`: whether the node accepts connections from peers. */
export const listening = defineMethod({
  name: "net_listening",
  params: {},
  result: boolean,
  handle: (_params, { node }) => andThen(node.info(), ({ isListening }) => isListening),
});

/** `net_peerCount`: number of connected peers, as a JSON integer; geth returns a QUANTITY. */
export const peerCount = defineMethod({
  name: "net_peerCount",
  params: {},
  result: jsonInteger,
  handle: (_params, { node }) => andThen(node.info(), ({ peerCount }) => peerCount),
});
