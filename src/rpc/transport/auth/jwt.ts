import { createHmac, timingSafeEqual } from "node:crypto";
import { isJsonObject } from "../../../base/primitives/shape.ts";

/** What a token says. Times are NumericDates: seconds of the Unix clock. */
export type JwtClaims = {
  /** When it was made. */
  readonly iat?: number;
  /** The time of its expiry. */
  readonly exp?: number;
  /** Whom it was made for. */
  readonly sub?: string;
  /** Its own name, by which it can be revoked. */
  readonly jti?: string;
  /** Ours: the namespaces it opens; absent, every one. */
  readonly namespaces?: readonly string[];
  /** Ours: the methods it opens, `*` for any text; absent, every one. */
  readonly methods?: readonly string[];
};

/** Why a token is invalid. For counters only; the answer does not say it. */
type JwtFault = "length" | "form" | "algorithm" | "signature" | "claims" | "time";

export type JwtVerdict = { readonly claims: JwtClaims } | { readonly fault: JwtFault };

/** A token of ours has some 150 characters; one that lists every namespace, 400. */
const TOKEN_CHARS_MAX = 4096;

/** How far the clocks of caller and node may be apart, as on the engine port of execution clients. */
const CLOCK_SKEW_S = 60;

const PART = /^[A-Za-z0-9_-]+$/;
const HEADER = { alg: "HS256", typ: "JWT" };

/** A JSON Web Token signed with HMAC-SHA256 (RFC 7519, RFC 7518 section 3.2). */
export function signJwt(claims: JwtClaims, secret: Uint8Array): string {
  const head = `${encodePart(HEADER)}.${encodePart(claims)}`;
  return `${head}.${macOf(head, secret).toString("base64url")}`;
}

/**
 * What `token` claims, if it was signed with one of `secrets` and its time is right: `exp` ahead, or, in a token without `exp`, `iat`
 * within a minute of `nowSeconds`.
 *
 * The algorithm is ours to choose, not the token's: anything but HS256 is rejected before its signature is verified, so neither
 * `none` nor a public key used as a secret gets through.
 */
export function verifyJwt(token: string, secrets: readonly Uint8Array[], nowSeconds: number): JwtVerdict {
  if (token.length > TOKEN_CHARS_MAX) return { fault: "length" };
  const parts = token.split(".");
  if (parts.length !== 3 || !parts.every((part) => PART.test(part))) return { fault: "form" };
  const [header, payload, signature] = parts as [string, string, string];
  const given = decodePart(header);
  // `crit` names extensions that must be understood; this node supports none.
  if (given?.["alg"] !== HEADER.alg || given["crit"] !== undefined) return { fault: "algorithm" };
  const found = Buffer.from(signature, "base64url");
  const isSignedBy = (secret: Uint8Array) => {
    const wanted = macOf(`${header}.${payload}`, secret);
    return found.length === wanted.length && timingSafeEqual(found, wanted);
  };
  if (!secrets.some(isSignedBy)) return { fault: "signature" };
  const claims = decodePart(payload);
  if (claims === undefined || !areClaims(claims)) return { fault: "claims" };
  return isTimely(claims, nowSeconds) ? { claims } : { fault: "time" };
}

function isTimely({ iat, exp }: JwtClaims, nowSeconds: number): boolean {
  if (exp !== undefined) return exp > nowSeconds && (iat ?? 0) <= nowSeconds + CLOCK_SKEW_S;
  return iat !== undefined && Math.abs(nowSeconds - iat) <= CLOCK_SKEW_S;
}

function areClaims(value: Readonly<Record<string, unknown>>): value is JwtClaims {
  const { iat, exp, nbf, sub, jti, namespaces, methods } = value;
  const isText = (text: unknown) => text === undefined || typeof text === "string";
  const isList = (list: unknown) =>
    list === undefined || (Array.isArray(list) && list.every((name) => typeof name === "string"));
  const isTime = (time: unknown) => time === undefined || Number.isFinite(time);
  return (
    isTime(iat) &&
    isTime(exp) &&
    // A claim that narrows the token and that we do not weigh must not be passed over.
    nbf === undefined &&
    isText(sub) &&
    isText(jti) &&
    isList(namespaces) &&
    isList(methods)
  );
}

function macOf(text: string, secret: Uint8Array): Buffer {
  return createHmac("sha256", secret).update(text).digest();
}

function encodePart(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function decodePart(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    if (!isJsonObject(value)) return undefined;
    return value as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
