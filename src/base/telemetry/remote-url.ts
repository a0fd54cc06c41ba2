/** The target of a request to another program. */
export type RemoteUrl = {
  /** Without user and password. */
  readonly url: string;
  /** `authorization`, if the URL had a user or password. */
  readonly headers: Readonly<Record<string, string>>;
  /** Scheme, host and port: the only parts to show. A path or query may contain a provider's key. */
  readonly origin: string;
};

/**
 * Parses the URL of another program; undefined if `text` is not a URL with one of `schemes`.
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

/** The URL parser accepts a stray %. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
