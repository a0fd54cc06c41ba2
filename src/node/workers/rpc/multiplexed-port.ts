import type {
  ChannelPort,
  ClientMessage,
  ServerMessage,
} from "../../../rpc/ports/channel/protocol.ts";

type Listener = (value: unknown) => void;

/** A channel of ports among the other messages of a process. */
export class MultiplexedPort implements ChannelPort {
  readonly postMessage: (message: ClientMessage | ServerMessage) => void;
  #onMessage: Listener = () => {};
  #onClose: Listener = () => {};

  constructor(post: (message: ClientMessage | ServerMessage) => void) {
    this.postMessage = post;
  }

  on(event: "message" | "messageerror" | "close", listener: Listener): void {
    if (event === "message") this.#onMessage = listener;
    if (event === "close") this.#onClose = listener;
  }

  /** A message of the other side. */
  receive(message: ClientMessage | ServerMessage): void {
    this.#onMessage(message);
  }

  close(): void {
    this.#onClose(undefined);
  }

  /** The process has other reasons to run. */
  ref(): void {}
  unref(): void {}
}
