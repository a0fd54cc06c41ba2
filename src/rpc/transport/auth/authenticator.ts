import { equalBytes } from "../../../base/primitives/bytes.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { AttemptLimit } from "./attempt-limit.ts";
import { type Credential, globMatcher } from "./credential.ts";
import { type JwtClaims, verifyJwt } from "./jwt.ts";

/** What came of looking at a request for a credential. */
export type Authentication =
  /** It carries none, which is fine until a private method is called. */
  | { readonly kind: "none" }
  | { readonly kind: "valid"; readonly credential: Credential }
  | { readonly kind: "invalid" }
  /** One more bad token of a source that sent too many. */
  | { readonly kind: "throttled"; readonly retryAfterS: number };

/** A request as far as authentication is concerned. */
type Presented = {
  readonly authorization: string | undefined;
  /** Path and query, as they came. */
  readonly url: string | undefined;
  /** Whose failures are counted together: the remote address. */
  readonly source: string;
};

/** Judges the credential of an HTTP request or of a WebSocket upgrade. */
export type Authenticate = (presented: Presented) => Authentication;

export type AuthenticatorOptions = {
  readonly keys: TokenKeys;
  /** Bad tokens a minute from one address before further bad ones are rejected for a while. */
  readonly badTokensMax: number;
  /** Longest of these whiles. */
  readonly pauseMsMax: number;
  /** Called with the source of each bad token. */
  readonly onBadToken?: (source: string) => void;
};

/** By what tokens are judged at this moment. */
export interface TokenKeys {
  /** Secrets that sign good tokens, 32 bytes each; none while no token is good. */
  secrets(): readonly Uint8Array[];
  /** @param names the claims `jti` and `sub` */
  isRevoked(names: TokenNames): boolean;
}

export type TokenNames = { readonly id: string | undefined; readonly subject: string | undefined };

export type Authenticator = {
  readonly authenticate: Authenticate;
  /** Counts a bad token that `source` sent to another process. */
  readonly countBadToken: (source: string) => void;
};

export type AuthenticatorModules = {
  /** Seconds of the Unix clock, which tokens are dated by. */
  readonly nowSeconds?: () => number;
  readonly timers: Pick<Timers, "now">;
};

const WINDOW_MS = 60_000;
const PAUSE_MS = 1000;

const NONE: Authentication = { kind: "none" };
const INVALID: Authentication = { kind: "invalid" };

/** Accepts bearer tokens that `keys` vouch for. */
export function createAuthenticator(
  options: AuthenticatorOptions,
  { nowSeconds = () => Date.now() / 1000, timers }: AuthenticatorModules,
): Authenticator {
  const { keys, badTokensMax: failuresMax, pauseMsMax, onBadToken } = options;
  const limit = new AttemptLimit(
    { failuresMax, windowMs: WINDOW_MS, pauseMs: Math.min(PAUSE_MS, pauseMsMax), pauseMsMax },
    timers,
  );

  function vouchedFor(token: string): { readonly claims: JwtClaims; readonly secret: Uint8Array } | undefined {
    for (const secret of keys.secrets()) {
      const verdict = verifyJwt(token, [secret], nowSeconds());
      if ("claims" in verdict) return { claims: verdict.claims, secret };
    }
    return undefined;
  }

  const isInUse = (secret: Uint8Array) => keys.secrets().some((each) => equalBytes(each, secret));

  function judge(authorization = ""): Authentication {
    const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    const found = token === undefined ? undefined : vouchedFor(token);
    if (found === undefined) return INVALID;
    const { exp, sub, jti, namespaces, methods } = found.claims;
    const names = { id: jti, subject: sub };
    if (keys.isRevoked(names)) return INVALID;
    const credential: Credential = {
      namespaces: namespaces && new Set(namespaces),
      includes: methods && globMatcher(methods),
      subject: sub,
      isExpired: () => (exp !== undefined && exp <= nowSeconds()) || keys.isRevoked(names) || !isInUse(found.secret),
    };
    return { kind: "valid", credential };
  }

  const authenticate: Authenticate = ({ authorization, url, source }) => {
    const isInUrl = carriesCredential(url);
    // Another scheme is somebody else's business: a proxy in front of the node may ask for a password and pass it on.
    if (!isInUrl && !/^bearer\b/i.test(authorization ?? "")) return NONE;
    const authentication = isInUrl ? INVALID : judge(authorization);
    // A valid token passes whatever else its address sent: clients behind a proxy share an address, and a secret of 32 bytes cannot be
    // guessed.
    if (authentication.kind === "valid") return authentication;
    const waitMs = limit.waitMs(source);
    if (waitMs > 0) return { kind: "throttled", retryAfterS: Math.ceil(waitMs / 1000) };
    limit.failed(source);
    onBadToken?.(source);
    return authentication;
  };
  return { authenticate, countBadToken: (source) => limit.failed(source) };
}

const CREDENTIAL_PARAMETER = /^(?:token|access_token|auth|authorization|bearer|jwt)$/i;
/** The first characters of every JSON object in base64url: `{"`. */
const LOOKS_LIKE_JWT = /(?:^|[^A-Za-z0-9])eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*/;

/**
 * Whether a URL carries a token. Such a request is rejected even if the token is valid: URLs end up in logs of proxies and in browser histories,
 * and a caller whose request succeeded would never learn that.
 */
export function carriesCredential(url: string | undefined): boolean {
  const query = url?.indexOf("?") ?? -1;
  if (url === undefined || (query === -1 && !url.includes("eyJ"))) return false;
  if (LOOKS_LIKE_JWT.test(url)) return true;
  return [...new URLSearchParams(url.slice(query + 1)).keys()].some((name) => CREDENTIAL_PARAMETER.test(name));
}
