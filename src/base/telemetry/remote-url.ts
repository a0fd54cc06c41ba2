/** Where a request to another program goes. */
export type RemoteUrl = {
  /** Without the user and password of the text it was parsed from. */
  readonly url: string;
  /** `authorization` where there was a user or a password. */
  readonly headers: Readonly<Record<string, string>>;
  /** Scheme, host and port: all that may be shown. A path or query may hold the key of a provider. */
  readonly origin: string;
};

/**
 * Parses the URL of another program; undefined when `text` is not a URL with one of `schemes`.
 * @param schemes such as `http`
 */
export function parseRemoteUrl(text: string, schemes: readonly string[]): RemoteUrl | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!schemes.includes(url.protocol.slice(0, -1))) return undefined;
  const { username, password, protocol, host } = url;
  url.username = "";
  url.password = "";
  url.hash = "";
  const credentials = `${decoded(username)}:${decoded(password)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
  return {
    url: url.href,
    headers: username === "" && password === "" ? {} : { authorization },
    // `URL.origin` is "null" for ws.
    origin: `${protocol}//${host}`,
  };
}

/** A stray % is not an error for the URL parser. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
