import { InvalidParamsError } from "../dispatch/errors.ts";
import { defineMethod, type Method } from "../dispatch/method.ts";
import { json, string } from "../params/codec.ts";
import { AdminError } from "./errors.ts";

export const addPeer = peerMethod("admin_addPeer");
export const removePeer = peerMethod("admin_removePeer");
export const addTrustedPeer = peerMethod("admin_addTrustedPeer");
export const removeTrustedPeer = peerMethod("admin_removeTrustedPeer");

/** Checks the URL as a node with a network would, and then says that there is none: true would be a promise nobody keeps. */
function peerMethod(name: string): Method<unknown> {
  return defineMethod({
    name,
    params: { url: string },
    result: json,
    private: true,
    handle({ url }) {
      assertEnode(url);
      throw new AdminError("the solo engine has no network: this node is its only validator");
    },
  });
}

/** @throws InvalidParamsError with geth's reasons */
function assertEnode(url: string): void {
  const fail = (reason: string) => new InvalidParamsError(`invalid enode: ${reason}`, "url");
  if (url.startsWith("enr:")) return;
  const match = /^([a-z][a-z0-9+.-]*):\/\/(?:([^@/]*)@)?(.*)$/.exec(url);
  if (match === null) throw fail("missing 'enr:' prefix for base64-encoded record");
  const [, scheme, id] = match;
  if (scheme !== "enode") throw fail('invalid URL scheme, want "enode"');
  if (id === undefined || id === "") throw fail("does not contain node ID");
  if (!/^[0-9a-fA-F]{128}$/.test(id)) {
    throw fail(`invalid public key (wrong length, want 128 hex chars)`);
  }
}
