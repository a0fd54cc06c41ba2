import { IncomingMessage } from "node:http";

/** A target in absolute form: what names the host, and the rest. */
const ABSOLUTE_TARGET = /^https?:\/\/([^/?#]+)(.*)$/i;

/**
 * A request as `node:http` makes it, which is an upgrade only where it asks for WebSocket. Java's own HTTP client offers `h2c` with every request and Apache's
 * `TLS/1.2`: an offer that a server does not take is ignored, and the request answered (RFC 9110, 7.8).
 */
export class IncomingRequest extends IncomingMessage {
  /** The parser found an Upgrade header. The constructor of `node:http` sets it: no field of this class, which would be made after that. */
  declare private asksForUpgrade: boolean;

  /** Set by the parser, read before the request is served. */
  get upgrade(): boolean {
    if (!this.asksForUpgrade || this.method === "CONNECT") return this.asksForUpgrade;
    return this.method === "GET" && this.headers.upgrade?.toLowerCase() === "websocket";
  }

  set upgrade(asksForUpgrade: boolean | null) {
    this.asksForUpgrade = asksForUpgrade === true;
  }

  get ignoresUpgrade(): boolean {
    return this.asksForUpgrade && !this.upgrade;
  }

  /** No more than the request has as it was sent, with head and body; zero where its body has no length. */
  get bytesMin(): number {
    if (this.headers["transfer-encoding"] !== undefined) return 0;
    let bytes = `${this.method} ${this.url} HTTP/1.1\r\n\r\n`.length;
    // Behind each name a colon and a space, behind each value the end of the line.
    for (const text of this.rawHeaders) bytes += text.length + 2;
    return bytes + Number(this.headers["content-length"] ?? 0);
  }
}

/** Resolves a target in absolute form. The host that it names takes the place of the Host header (RFC 9112, 3.2.2), in every later check too. */
export function resolveTarget(request: IncomingMessage): void {
  const target = ABSOLUTE_TARGET.exec(request.url ?? "");
  if (target === null) return;
  const [, host, rest = ""] = target;
  request.headers.host = host;
  if (rest.startsWith("/")) request.url = rest;
  else request.url = rest === "" && request.method === "OPTIONS" ? "*" : `/${rest}`;
}
