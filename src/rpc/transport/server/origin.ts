import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

/** Host names that stand for this machine; IP literals always pass, they cannot be rebound by DNS. */
export const DEFAULT_ALLOWED_HOSTS: readonly string[] = ["localhost"];

/**
 * Browser extensions may call by default: a web page cannot forge their scheme, and wallets are extensions. Web pages
 * have to be listed.
 */
export const DEFAULT_ALLOWED_ORIGINS: readonly string[] = [
  "chrome-extension://*",
  "moz-extension://*",
  "safari-web-extension://*",
];

const HOST = /^(?:\[([0-9a-fA-F:.]+)\]|([a-zA-Z0-9._-]+))(?::\d{1,5})?$/;
/** Browsers write names in ASCII; extensions have ids. */
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/;

/**
 * True when a request with this Host header may be served: an IP literal or a listed name, `*` lists all. Without the check
 * any web page could reach a node on the visitor's machine by pointing its own name there (DNS rebinding).
 */
export function isHostAllowed(host: string | undefined, allowed: readonly string[]): boolean {
  if (allowed.includes("*") || host === undefined) return true;
  const match = HOST.exec(host);
  if (!match) return false;
  const [, ipv6, name = ""] = match;
  if (ipv6 !== undefined) return isIP(ipv6) === 6;
  // The list first: what Node tells addresses from names with takes 5 ms to compile, for the first request.
  return allowed.includes(name.toLowerCase()) || isIP(name) === 4;
}

/** The name in a Host header, as `json-rpc.vhosts` takes it; undefined if the header has none. */
export function hostName(host: string): string | undefined {
  const name = HOST.exec(host)?.[2]?.toLowerCase();
  // Behind a flag a dash in front would be another flag.
  return name?.startsWith("-") === true ? undefined : name;
}

/** True for Origins that a browser sends, except `null`. Only these can be listed. */
export function isOrigin(text: string): boolean {
  return ORIGIN.test(text.toLowerCase());
}

/** A rule for one of these without a port means every port: front ends under development move between ports. */
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The name of a program. A browser sends an origin with its scheme, or `null`. */
const PROGRAM_NAME = /^(?!null$)[\w.-]+$/;

/**
 * True when a page of this Origin may call, or the header names a program, as Titanoboa's does. Rules: `*`, an origin, `scheme://*` (any host), `scheme://host:*` (any port).
 * A page served by this very listener may always call it, unless the request does not say under which name it came.
 */
export function isOriginAllowed(
  origin: string | undefined,
  host: string | undefined,
  allowed: readonly string[],
): boolean {
  if (origin === undefined || allowed.includes("*")) return true;
  const lowerCase = origin.toLowerCase();
  if (PROGRAM_NAME.test(lowerCase)) return true;
  const match = ORIGIN.exec(lowerCase);
  if (!match) return false;
  const [own, scheme, name, port] = match;
  const isWeb = scheme === "http" || scheme === "https";
  if (isWeb && host !== undefined && own === `${scheme}://${host.toLowerCase()}`) return true;
  return allowed.some((rule) => {
    const wanted = rule.toLowerCase();
    return (
      wanted === own ||
      wanted === `${scheme}://*` ||
      wanted === `${scheme}://${name}:*` ||
      (wanted === `${scheme}://${name}` && LOOPBACK.has(name!)) ||
      (port === undefined && wanted === `${scheme}://${name}:${scheme === "https" ? 443 : 80}`)
    );
  });
}

const FOREIGN_SITES: ReadonlySet<string> = new Set(["cross-site", "same-site"]);

/**
 * Whether a page of another origin made its browser send this request without an Origin header: images, scripts, frames, GET without CORS. A
 * link to a page of this listener does not count. Programs, and browsers from before 2023, send no such headers.
 *
 * @see https://www.w3.org/TR/fetch-metadata/
 */
export function isForeignLoad(headers: IncomingHttpHeaders): boolean {
  if (headers.origin !== undefined || !FOREIGN_SITES.has(String(headers["sec-fetch-site"]))) return false;
  const destination = headers["sec-fetch-dest"] ?? "document";
  return headers["sec-fetch-mode"] !== "navigate" || destination !== "document";
}
