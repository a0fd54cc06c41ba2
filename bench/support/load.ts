import { connect } from "node:net";
import type { Peer } from "./peers.ts";

export type LoadResult = {
  readonly requestsPerSecond: number;
  readonly cpuMicrosecondsPerRequest: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

/**
 * Sends `body` over `connections` keep-alive connections, one request in flight on each, for `seconds`.
 * Answers are only cut apart, never parsed, so that the generator costs less than the node.
 * @throws if the node answers an error whose beginning arrives with the head, unless `acceptErrors`
 */
export async function load(
  peer: Peer,
  body: string,
  { connections = 32, seconds = 2, acceptErrors = false } = {},
): Promise<LoadResult> {
  const request = Buffer.from(
    `POST / HTTP/1.1\r\nHost: 127.0.0.1:${peer.port}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const latencies: number[] = [];
  const cpuBefore = peer.cpuSeconds();
  const begin = performance.now();
  const end = begin + seconds * 1000;
  await Promise.all(
    Array.from({ length: connections }, () => drive(peer.port, request, { end, acceptErrors, latencies })),
  );
  const elapsed = (performance.now() - begin) / 1000;
  const cpu = peer.cpuSeconds() - cpuBefore;
  latencies.sort((a, b) => a - b);
  return {
    requestsPerSecond: latencies.length / elapsed,
    cpuMicrosecondsPerRequest: (cpu * 1e6) / latencies.length,
    p50Ms: latencies[Math.floor(latencies.length * 0.5)]!,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)]!,
  };
}

/** Ends an answer in chunks (RFC 9112, 7.1). */
const LAST_CHUNK = "0\r\n\r\n";

type Drive = { readonly end: number; readonly acceptErrors: boolean; readonly latencies: number[] };

function drive(port: number, request: Buffer, { end, acceptErrors, latencies }: Drive): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    let sentAt = 0;
    let missing = -1;
    let header = "";
    let isChunked = false;
    /** The last bytes so far of an answer in chunks. */
    let tail = "";
    const send = () => {
      sentAt = performance.now();
      missing = -1;
      header = "";
      socket.write(request);
    };
    socket.on("connect", send);
    socket.on("data", (chunk) => {
      if (missing < 0) {
        header += chunk.toString("latin1");
        const at = header.indexOf("\r\n\r\n");
        if (at < 0) return;
        const length = /content-length: (\d+)/i.exec(header);
        isChunked = length === null && /transfer-encoding: chunked/i.test(header);
        if (!(length || isChunked) || !header.startsWith("HTTP/1.1 200")) {
          socket.destroy(new Error(`unexpected answer: ${header.slice(0, 200)}`));
          return;
        }
        if (!acceptErrors && isError(header.slice(at + 4))) {
          socket.destroy(new Error(`unexpected answer: ${header.slice(at + 4, at + 304)}`));
          return;
        }
        missing = length ? Number(length[1]) - (header.length - at - 4) : 0;
        tail = isChunked ? header.slice(-LAST_CHUNK.length) : "";
      } else {
        missing -= chunk.length;
        if (isChunked) tail = (tail + chunk.toString("latin1")).slice(-LAST_CHUNK.length);
      }
      if (isChunked ? tail !== LAST_CHUNK : missing > 0) return;
      const now = performance.now();
      latencies.push(now - sentAt);
      if (now >= end) socket.end();
      else send();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve());
  });
}

/** Where an answer tells whether it is an error: after its version and id. */
const OUTCOME_BYTES = 60;

/** An error would count as a fast answer. @param answer of a call or a batch, or its beginning */
export function isError(answer: string): boolean {
  return answer.slice(0, OUTCOME_BYTES).includes('"error":');
}

/** `list` in the order of a round, reversed in every second one: a load generator gets faster as it runs, and the speed of shared cores drifts. */
export function inTurn<T>(list: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? list : [...list].reverse();
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
