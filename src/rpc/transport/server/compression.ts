import { constants, gzip } from "node:zlib";
import type { Reply } from "../dispatch/dispatcher.ts";

export const COMPRESSION_LIMITS = {
  /** Smaller answers are one packet either way. */
  bytesMin: 1_400,
  /** For clients on this machine, which wait for the compression and gain nothing by it: a proxy among them may pass large answers on as they are. */
  localBytesMin: 4_096,
  /** An answer is in memory twice while it is compressed; a larger one is sent as it is. */
  bytesMax: 16 << 20,
  /** The threads that compress also write blocks to the disk: other answers that come meanwhile are sent as they are. */
  runningMax: 2,
} as const;

/** IPv4 also as sockets of both families show it. */
const LOOPBACK = /^(?:::1$|(?:::ffff:)?127\.)/;

/** An answer as it is sent. */
export type SentReply = Reply & { readonly isGzip?: true };

/** Compresses the answers of one listener, for clients that ask for it. */
export class ReplyCompressor {
  #running = 0;

  /**
   * Rejects never.
   * @param remoteAddress of the client
   * @returns undefined where the answer is sent as it is
   */
  compress(reply: Reply | undefined, remoteAddress: string): Promise<SentReply> | undefined {
    if (reply === undefined || this.#running >= COMPRESSION_LIMITS.runningMax) return undefined;
    if (!isOfSize(reply, remoteAddress)) return undefined;
    this.#running++;
    return this.#run(reply);
  }

  /** What is sent for an answer that is there or comes later. @param remoteAddress of the client */
  compressed(
    answer: Reply | undefined | Promise<Reply | undefined>,
    remoteAddress: string,
  ): SentReply | undefined | Promise<SentReply | undefined> {
    if (answer instanceof Promise) return answer.then((reply) => this.compress(reply, remoteAddress) ?? reply);
    return this.compress(answer, remoteAddress) ?? answer;
  }

  async #run(reply: Reply): Promise<SentReply> {
    const bytes = await gzipped(reply);
    this.#running--;
    return bytes === undefined ? reply : { ...reply, parts: [bytes], byteLength: bytes.length, isGzip: true };
  }
}

/** By letters, which are bytes in nearly every answer: to count the bytes of a long text takes long. */
function isOfSize({ parts }: Reply, remoteAddress: string): boolean {
  let length = 0;
  for (const part of parts) length += part.length;
  const { bytesMin, localBytesMin, bytesMax } = COMPRESSION_LIMITS;
  if (length < bytesMin || length > bytesMax) return false;
  return length >= localBytesMin || !LOOPBACK.test(remoteAddress);
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
