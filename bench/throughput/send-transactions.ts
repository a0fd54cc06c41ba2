import { connect } from "node:net";
import type { SignedTransaction } from "./workload.ts";

export type SendOptions = {
  readonly connections: number;
  /** Transactions a second over all connections; undefined: as fast as they are answered. */
  readonly rate?: number;
};

export type SendResult = {
  readonly seconds: number;
  /** Answers that were not a transaction hash, with the first of them. */
  readonly rejected: number;
  readonly firstRejection: string | undefined;
};

/**
 * Sends every transaction with `eth_sendRawTransaction`, one request in flight on each connection. A sender's transactions share a
 * connection, so that their nonces arrive in order. Answers are searched for an error, not parsed; one that says to send again later is obeyed.
 */
export async function sendTransactions(
  port: number,
  transactions: readonly SignedTransaction[],
  { connections, rate }: SendOptions,
): Promise<SendResult> {
  const queues: Buffer[][] = Array.from({ length: connections }, () => []);
  for (const { sender, raw } of transactions) queues[sender % connections]!.push(request(port, raw));
  const result = { rejected: 0, firstRejection: undefined as string | undefined };
  const begin = performance.now();
  const onAnswer = (answer: string) => {
    if (answer.includes('"result":"0x')) return;
    result.rejected++;
    result.firstRejection ??= answer;
  };
  const perConnection = rate === undefined ? undefined : rate / connections;
  await Promise.all(queues.map((queue) => drive(port, queue, onAnswer, perConnection)));
  return { ...result, seconds: (performance.now() - begin) / 1000 };
}

function request(port: number, raw: string): Buffer {
  const body = `{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["${raw}"]}`;
  return Buffer.from(
    `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
    "latin1",
  );
}

function drive(
  port: number,
  queue: readonly Buffer[],
  onAnswer: (answer: string) => void,
  rate: number | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    const begin = performance.now();
    let next = 0;
    let received = "";
    const send = () => {
      if (next === queue.length) {
        socket.end();
        return;
      }
      const wait = rate === undefined ? 0 : begin + (next / rate) * 1000 - performance.now();
      if (wait > 1) setTimeout(send, wait);
      else socket.write(queue[next++]!);
    };
    socket.on("connect", send);
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      const body = received.indexOf("\r\n\r\n") + 4;
      if (body < 4) return;
      const length = Number(/content-length: *(\d+)/i.exec(received)?.[1]);
      if (Number.isNaN(length)) {
        socket.destroy(new Error(`answer without a length: ${received.slice(0, 200)}`));
        return;
      }
      if (received.length < body + length) return;
      const answer = received.slice(body);
      received = "";
      const retryAfterMs = /"retryAfterMs":(\d{1,6})/.exec(answer)?.[1];
      if (retryAfterMs === undefined) {
        onAnswer(answer);
        send();
      } else {
        next--;
        setTimeout(send, Number(retryAfterMs));
      }
    });
    socket.on("error", reject);
    socket.on("close", () => {
      if (next === queue.length) resolve();
      else reject(new Error(`connection closed after ${next} of ${queue.length} transactions`));
    });
  });
}
