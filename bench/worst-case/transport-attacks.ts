import { connect, type Socket } from "node:net";
import { call, type Peer } from "../support/peers.ts";
import { type Target, worstInput } from "./method-inputs.ts";

/** One hostile connection; resolves when `signal` is aborted. */
export type Attack = (peer: Peer, signal: AbortSignal, target: Target) => Promise<void>;

const HEAD = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
const UPGRADE =
  "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const MEGABYTE = Buffer.alloc(1 << 20, 0x20);

const message = (method: string, params: readonly unknown[]) =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

const CALL = message("eth_blockNumber", []);

/** What can be done to the listeners themselves. */
export const TRANSPORT_ATTACKS: Readonly<Record<string, Attack>> = {
  "bodies of 5 MiB, unfinished": stream((socket) => {
    socket.write(`${HEAD}Content-Length: ${5 << 20}\r\n\r\n`);
    for (let i = 0; i < 4; i++) socket.write(MEGABYTE);
  }),
  "chunks of one byte": stream((socket) => {
    socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    const chunks = Buffer.from("1\r\n \r\n".repeat(10_000));
    const more = () => socket.write(chunks) && setImmediate(() => socket.writable && more());
    socket.on("drain", more);
    more();
  }),
  "WebSocket frames, unfinished": stream((socket) => {
    socket.write(UPGRADE);
    const head = Buffer.alloc(14);
    head.set([0x81, 0xff]);
    head.writeBigUInt64BE(BigInt((5 << 20) - 1), 2);
    socket.write(head);
    for (let i = 0; i < 4; i++) socket.write(MEGABYTE);
  }),
  "WebSocket fragments of one byte": stream((socket) => {
    socket.write(UPGRADE);
    socket.write(frame(0x01, "["));
    const fragments = Buffer.concat(Array.from({ length: 1000 }, () => frame(0x00, " ")));
    const more = () => socket.write(fragments) && setImmediate(() => socket.writable && more());
    socket.on("drain", more);
    more();
  }),
  "batches of 1000 calls": repeat(() => {
    const one = message("eth_getBlockByNumber", ["latest", true]);
    return `[${Array(1000).fill(one).join(",")}]`;
  }),
  "answers of 25 MB that are not read": stream((socket) => {
    const one = message("web3_sha3", ["0x"]);
    const body = `[${Array(1000).fill(one).join(",")}]`;
    socket.pause();
    for (let i = 0; i < 50; i++) socket.write(`${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`);
  }),
  ...pipelined("calls over HTTP", () => `${HEAD}Content-Length: ${CALL.length}\r\n\r\n${CALL}`),
  // Which only node:http reads.
  ...pipelined(
    "calls with an unusual header",
    () => `${HEAD}X-Other: 1\r\nContent-Length: ${CALL.length}\r\n\r\n${CALL}`,
  ),
  ...pipelined("smallest requests", () => "GET / HTTP/1.1\r\nHost:[::1]\r\n\r\n"),
  ...pipelined("calls over WebSocket", () => frame(0x81, CALL), UPGRADE),
  ...pipelined("smallest frames", () => frame(0x81, "1"), UPGRADE),
  "100 subscriptions each": stream((socket) => {
    socket.write(UPGRADE);
    for (let i = 0; i < 100; i++) {
      socket.write(frame(0x81, message("eth_subscribe", [i % 2 ? "newHeads" : "newPendingTransactions"])));
    }
    socket.resume();
  }),
};

/** The worst legal call of a method, again and again. */
export function methodAttack(method: string): Attack {
  return repeat((target) => message(method, worstInput(method, target) ?? []));
}

/** Opens a connection, and another one whenever it is closed. */
function stream(begin: (socket: Socket) => void): Attack {
  return async ({ port }, signal) => {
    while (!signal.aborted) {
      await new Promise<void>((resolve) => {
        const socket = connect(port, "127.0.0.1");
        const stop = () => socket.destroy();
        signal.addEventListener("abort", stop, { once: true });
        socket.once("connect", () => begin(socket));
        // Before `begin` may pause it.
        socket.on("data", () => {});
        socket.on("error", () => {});
        socket.once("close", () => {
          signal.removeEventListener("abort", stop);
          setTimeout(resolve, 20);
        });
      });
    }
  };
}

/** Sends as many requests as the node takes, whose answers are read, or not. */
function pipelined(name: string, requestOf: () => string | Buffer, head = ""): Record<string, Attack> {
  const begin = (isRead: boolean) => (socket: Socket) => {
    if (head) socket.write(head);
    if (!isRead) socket.pause();
    const request = Buffer.from(requestOf());
    const requests = Buffer.concat(Array<Buffer>(Math.ceil(65_536 / request.length)).fill(request));
    const more = () => socket.write(requests) && setImmediate(() => socket.writable && more());
    socket.on("drain", more);
    more();
  };
  return { [`pipelined, ${name}`]: stream(begin(true)), [`unread, ${name}`]: stream(begin(false)) };
}

/** Sends a call when the one before is answered. */
function repeat(bodyOf: (target: Target) => string): Attack {
  return async ({ port }, signal, target) => {
    const body = bodyOf(target);
    while (!signal.aborted) {
      try {
        const response = await fetch(`http://127.0.0.1:${port}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
          signal,
        });
        await response.arrayBuffer();
      } catch {
        // A rejected connection is opened again after a while, so that the attacker's own work stays bounded.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };
}

/** A masked frame with a mask of zeros. */
function frame(firstByte: number, payload: string): Buffer {
  const length = payload.length;
  const size = length < 126 ? [0x80 | length] : [0xfe, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([firstByte, ...size, 0, 0, 0, 0]), Buffer.from(payload)]);
}

/** A block with a transaction in it, for methods that look something up. */
export async function makeTarget({ port }: Peer): Promise<Target> {
  const [account = ""] = await call<string[]>(port, "eth_accounts", []);
  const transactionHash = await call<string>(port, "eth_sendTransaction", [
    { from: account, to: account, value: "0x1" },
  ]);
  for (let i = 0; i < 500; i++) {
    const found = await call<{ blockHash: string } | null>(port, "eth_getTransactionReceipt", [transactionHash]);
    if (found) return { account, transactionHash, blockHash: found.blockHash };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("the first transaction was not mined");
}
