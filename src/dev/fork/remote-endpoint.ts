import { ForkRemoteError } from "./errors.ts";

/** How a node of the remote chain is reached, taken from the address that an operator gave. */
export type RemoteEndpoint = {
  /** Without user and password, which `fetch` refuses. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** For people: see `remoteName`. */
  readonly name: string;
};

/** @throws ForkRemoteError where `text` is no address over HTTP; the text is not in the error, because it may hold a key */
export function remoteEndpoint(text: string): RemoteEndpoint {
  const url = httpUrl(text);
  if (url === undefined) throw new ForkRemoteError("the address of a remote node is no HTTP URL");
  const { username, password } = url;
  url.username = "";
  url.password = "";
  url.hash = "";
  const credentials = username !== "" || password !== "";
  return {
    url: url.href,
    headers: credentials ? { authorization: basic(username, password) } : {},
    name: nameOf(url),
  };
}

/** `text`, the address of a node, without what providers put keys into: path, query, user and password. */
export function remoteName(text: string): string {
  const url = httpUrl(text);
  return url === undefined ? "an address that is no HTTP URL" : nameOf(url);
}

function httpUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === "http:" || url.protocol === "https:" ? url : undefined;
}

function nameOf({ protocol, host, pathname, search }: URL): string {
  return `${protocol}//${host}${pathname === "/" && search === "" ? "" : "/…"}`;
}

/** RFC 7617, in UTF-8. */
function basic(username: string, password: string): string {
  const text = [username, password].map(decoded).join(":");
  return `Basic ${Buffer.from(text, "utf8").toString("base64")}`;
}

/** Percent-encoding undone, where it is one. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
