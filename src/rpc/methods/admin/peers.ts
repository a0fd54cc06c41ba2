import { andThen } from "../../../base/threads/maybe-promise.ts";
import { boolean, json, string } from "../../transport/codec.ts";
import { InvalidParamsError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";

/** `admin_peers`: the connected peers; an empty list under the solo engine. */
export const peers = defineMethod({
  name: "admin_peers",
  params: {},
  result: json,
  private: true,
  handle: (_params, { node }) => node.peers(),
});

/** Hex digits of a CometBFT node id inside an enode URL; the rest of its 128 are zeros. */
const ID_DIGITS = 40;

/**
 * `admin_addPeer`: connects to a node of the network, now and after every restart. Takes the URL from the other node's `admin_nodeInfo`,
 * `id@host:port`, or the address of a Whisper peer (`/ip4/HOST/tcp/PORT/p2p/ID`).
 *
 * @throws AdminError: the solo engine has no network
 */
export const addPeer = defineMethod({
  name: "admin_addPeer",
  params: { url: string },
  result: boolean,
  private: true,
  async handle({ url }, { node }) {
    await node.addPeer({ address: url.startsWith("/") ? url : peerAddress(url) });
    return true;
  },
});

/**
 * `admin_removePeer`: disconnects a node and rejects its connections until `admin_addPeer` names it. CometBFT cannot drop a single
 * connection, so the node restarts CometBFT, which takes two seconds. Also accepts a bare id.
 *
 * @throws AdminError: the solo engine has no network
 */
export const removePeer = defineMethod({
  name: "admin_removePeer",
  params: { url: string },
  result: boolean,
  private: true,
  handle: ({ url }, { node }) => andThen(node.removePeer({ id: peerId(url) }), () => true),
});

/** `admin_addTrustedPeer`: connects to a node even if the peer limit is reached, now and after every restart. @throws AdminError */
export const addTrustedPeer = defineMethod({
  name: "admin_addTrustedPeer",
  params: { url: string },
  result: boolean,
  private: true,
  async handle({ url }, { node }) {
    await node.trustPeer({ address: peerAddress(url) });
    return true;
  },
});

/**
 * `admin_removeTrustedPeer`: undoes `admin_addTrustedPeer`: the peer limit applies to the node again. An open connection stays. @throws
 * AdminError
 */
export const removeTrustedPeer = defineMethod({
  name: "admin_removeTrustedPeer",
  params: { url: string },
  result: boolean,
  private: true,
  handle: ({ url }, { node }) => andThen(node.distrustPeer({ id: peerId(url) }), () => true),
});

/** The id, of a URL or as it is. @throws InvalidParamsError */
function peerId(url: string): string {
  return /^[0-9a-f]{40}$/.test(url) ? url : peerAddress(url).slice(0, ID_DIGITS);
}

/**
 * `id@host:port` of a peer.
 * @throws InvalidParamsError with geth's reasons
 */
function peerAddress(url: string): string {
  const fail = (reason: string) => new InvalidParamsError(`invalid enode: ${reason}`, "url");
  if (/^[0-9a-f]{40}@[^@/]+:\d{1,5}$/.test(url)) return url;
  const match = /^([a-z][a-z0-9+.-]*):\/\/(?:([^@/]*)@)?(.*)$/.exec(url);
  if (match === null) throw fail("missing 'enr:' prefix for base64-encoded record");
  const [, scheme, id, address] = match;
  if (scheme !== "enode") throw fail('invalid URL scheme, want "enode"');
  if (id === undefined || id === "") throw fail("does not contain node ID");
  if (!/^[0-9a-fA-F]{128}$/.test(id)) {
    throw fail("invalid public key (wrong length, want 128 hex chars)");
  }
  return `${id.slice(0, ID_DIGITS).toLowerCase()}@${address}`;
}
