import type { IncomingMessage } from "node:http";
import { constants, gzip } from "node:zlib";
import type { Reply } from "../dispatch/dispatcher.ts";

export const COMPRESSION_LIMITS = {
  /** Smaller answers are one packet either way. */
  bytesMin: 1_400,
  /** For clients on this machine: compression takes them and this node ten times as long as sending. Some may be proxies for others. */
  localBytesMin: 1 << 20,
  /** An answer is in memory twice while it is compressed; a larger one is sent as it is. */
  bytesMax: 16 << 20,
  /** The threads that compress also write blocks to the disk: other answers that come meanwhile are sent as they are. */
  runningMax: 2,
} as const;

/** IPv4 also as sockets of both families show it. */
const LOOPBACK = /^(?:::1$|(?:::ffff:)?127\.)/;

/** Headers by which a proxy tells for whom it asks. */
const PROXY_HEADERS = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];

/** Where an answer goes: `local` where no network is between this node and its client. */
export type ClientPlace = "local" | "remote";

/** What is known of a client before any header. */
export function placeOfAddress(remoteAddress: string): ClientPlace {
  return LOOPBACK.test(remoteAddress) ? "local" : "remote";
}

/** Behind a proxy on this machine the client is elsewhere; nginx asks in HTTP/1.0, and others name the client. */
export function placeOfClient({ socket, httpVersion, headers }: IncomingMessage): ClientPlace {
  if (httpVersion === "1.0" || PROXY_HEADERS.some((name) => headers[name] !== undefined)) return "remote";
  return placeOfAddress(socket.remoteAddress ?? "");
}

/** An answer as it is sent. */
export type SentReply = Reply & { readonly isGzip?: true };

/** Compresses the answers of one listener, for clients that ask for it. */
export class ReplyCompressor {
  #running = 0;

  /**
   * Rejects never.
   * @returns undefined where the answer is sent as it is
   */
  compress(reply: Reply | undefined, client: ClientPlace): Promise<SentReply> | undefined {
    if (reply === undefined || this.#running >= COMPRESSION_LIMITS.runningMax) return undefined;
    // By letters, which are bytes in nearly every answer: to count the bytes of a long text takes long.
    let length = 0;
    for (const part of reply.parts) length += part.length;
    const { bytesMin, localBytesMin, bytesMax } = COMPRESSION_LIMITS;
    if (length < (client === "local" ? localBytesMin : bytesMin) || length > bytesMax) return undefined;
    this.#running++;
    return this.#run(reply);
  }

  /** What is sent for an answer that is there or comes later. */
  compressed(
    answer: Reply | undefined | Promise<Reply | undefined>,
    client: ClientPlace,
  ): SentReply | undefined | Promise<SentReply | undefined> {
    if (answer instanceof Promise) return answer.then((reply) => this.compress(reply, client) ?? reply);
    return this.compress(answer, client) ?? answer;
  }

  async #run(reply: Reply): Promise<SentReply> {
    const bytes = await gzipped(reply);
    this.#running--;
    return bytes === undefined ? reply : { ...reply, parts: [bytes], byteLength: bytes.length, isGzip: true };
  }
}

/** undefined where memory is short. */
function gzipped({ parts }: Reply): Promise<Buffer | undefined> {
  const bytes = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  return new Promise((resolve) => {
    // A better level takes several times longer for a tenth of the size.
    gzip(bytes, { level: constants.Z_BEST_SPEED }, (error, compressed) => resolve(error ? undefined : compressed));
  });
}

/** Whether an Accept-Encoding header asks for gzip. @see RFC 9110, 12.5.3 */
export function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false;
  let anything = false;
  for (const entry of header.toLowerCase().split(",")) {
    const [coding, ...parameters] = entry.split(";").map((text) => text.trim());
    const isWanted = !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    if (coding === "gzip" || coding === "x-gzip") return isWanted;
    if (coding === "*") anything = isWanted;
  }
  return anything;
}
