import { parseRemoteUrl, type RemoteUrl } from "../../telemetry/remote-url.ts";
import { ForkRemoteError } from "./errors.ts";

/** How a node of the remote chain is reached, taken from the address that an operator gave. */
export type RemoteEndpoint = Pick<RemoteUrl, "url" | "headers"> & {
  /** For people: see `remoteName`. */
  readonly name: string;
};

/** @throws ForkRemoteError where `text` is no address over HTTP; the text is not in the error, because it may hold a key */
export function remoteEndpoint(text: string): RemoteEndpoint {
  const remote = httpUrl(text);
  if (remote === undefined)
    throw new ForkRemoteError("the address of a remote node is no HTTP URL");
  const { url, headers } = remote;
  return { url, headers, name: nameOf(remote) };
}

/** `text`, the address of a node, without what providers put keys into: path, query, user and password. */
export function remoteName(text: string): string {
  const remote = httpUrl(text);
  return remote === undefined ? "an address that is no HTTP URL" : nameOf(remote);
}

function httpUrl(text: string): RemoteUrl | undefined {
  return parseRemoteUrl(text, ["http", "https"]);
}

function nameOf({ url, origin }: RemoteUrl): string {
  const { pathname, search } = new URL(url);
  return `${origin}${pathname === "/" && search === "" ? "" : "/…"}`;
}
