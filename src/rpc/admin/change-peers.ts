import { InvalidParamsError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { boolean, string } from "../params/codec.ts";
import { AdminError } from "./errors.ts";
import type { NodeAdmin } from "./port.ts";

type Modules = { readonly node: Pick<NodeAdmin, "addPeer"> };

/** Hex digits of a CometBFT node id inside an enode URL; the rest of its 128 are zeros. */
const ID_DIGITS = 40;

/**
 * `admin_addPeer`: connects to a validator or follower of the network, and again after every restart. Takes the URL that
 * `admin_nodeInfo` of the other node shows, or `id@host:port`; or the address of a whisper peer (`/ip4/HOST/tcp/PORT/p2p/ID`).
 *
 * @throws AdminError: the solo engine has no network
 */
export const addPeer = defineMethod({
  name: "admin_addPeer",
  params: { url: string },
  result: boolean,
  private: true,
  async handle({ url }, { node }: Modules) {
    await node.addPeer(url.startsWith("/") ? url : peerAddress(url));
    return true;
  },
});

export const addTrustedPeer = withoutTrust("admin_addTrustedPeer");
export const removeTrustedPeer = withoutTrust("admin_removeTrustedPeer");

/** `admin_removePeer`: CometBFT has no call that ends a connection. */
export const removePeer = defineMethod({
  name: "admin_removePeer",
  params: { url: string },
  result: boolean,
  private: true,
  handle({ url }) {
    peerAddress(url);
    throw new AdminError(
      "connections end only at a restart: remove the peer from cometbft.persistent-peers and restart the node",
    );
  },
});

function withoutTrust(name: string) {
  return defineMethod({
    name,
    params: { url: string },
    result: boolean,
    private: true,
    handle({ url }) {
      peerAddress(url);
      throw new AdminError("no peer is trusted more than another: validators sign every block");
    },
  });
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
