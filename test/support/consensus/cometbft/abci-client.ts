import { connect, type Socket } from "node:net";
import {
  type AbciReply,
  decodeReply,
  FrameReader,
  requestFrame,
} from "../../../../src/consensus/cometbft/abci/frames.ts";
import type { CallName, Reply, Request } from "../../../../src/consensus/cometbft/abci/messages.ts";

/** One connection as CometBFT opens them: each call is followed by a flush, and its reply read up to that of the flush. */
export class AbciClient {
  readonly socket: Socket;
  readonly #frames = new FrameReader();
  readonly #waiting: { resolve(reply: AbciReply): void; reject(error: Error): void }[] = [];
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.on("data", (chunk: Buffer) => {
      for (const body of this.#frames.push(chunk)) this.#waiting.shift()?.resolve(decodeReply(body));
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error("connection closed"));
    });
  }

  static async open(path: string): Promise<AbciClient> {
    const socket = connect(path);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new AbciClient(socket);
  }

  /** @throws Error with the text of an exception, or when the connection closes first */
  async call<Name extends CallName>(name: Name, fields: Partial<Request<Name>> = {}): Promise<Reply<Name>> {
    const reply = this.#next();
    const flushed = this.#next();
    flushed.catch(() => {});
    this.socket.write(Buffer.concat([requestFrame(name, fields), requestFrame("flush", {})]));
    const answer = await reply;
    if (answer.call === "exception") throw new Error(answer.fields.error);
    await flushed;
    if (answer.call !== name) throw new Error(`reply ${answer.call} to ${name}`);
    return answer.fields as Reply<Name>;
  }

  /** Bytes as they are, and the next `count` replies. */
  async raw(bytes: Uint8Array, count: number): Promise<AbciReply[]> {
    const replies = Array.from({ length: count }, () => this.#next());
    this.socket.write(bytes);
    return Promise.all(replies);
  }

  close(): Promise<void> {
    this.socket.destroy();
    return this.closed;
  }

  #next(): Promise<AbciReply> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }
}
