import { connect } from "node:net";
import { WebSocket } from "ws";

/** A place of a log in the chain as one number: a block has fewer logs than this. */
const LOGS_MAX = 1000;

export function placeOf(blockNumber: number, logIndex = 0): number {
  return blockNumber * LOGS_MAX + logIndex;
}

/** The hash by which each block was first told of; whoever hears another one for its number is told a lie. */
export class BlockHashes {
  readonly #byNumber = new Map<number, string>();
  readonly #byHash = new Map<string, number>();

  /** @throws Error when the number was told of by another hash before */
  check(number: number, hash: string): void {
    const known = this.#byNumber.get(number);
    if (known === undefined) {
      this.#byNumber.set(number, hash);
      this.#byHash.set(hash, number);
    } else if (known !== hash) throw new Error(`block ${number} was told as ${known} and ${hash}`);
  }

  /** -1 for a hash nobody told of. */
  numberOf(hash: string): number {
    return this.#byHash.get(hash) ?? -1;
  }
}

type Notice = {
  readonly params?: {
    readonly subscription: string;
    readonly result: {
      readonly hash?: string;
      readonly number: string;
      readonly blockNumber: string;
      readonly logIndex: string;
    };
  };
};

/** Subscribes to heads and logs once, by WebSocket or IPC, and notes everything. */
export class StayingClient {
  /** Numbers of blocks, in the order they were told. */
  readonly heads: number[] = [];
  readonly logs: number[] = [];
  readonly #hashes: BlockHashes;
  readonly #close: () => void;

  private constructor(hashes: BlockHashes, close: () => void) {
    this.#hashes = hashes;
    this.#close = close;
  }

  /** @param address a WebSocket URL, or the path of a socket file */
  static async open(address: string, hashes: BlockHashes): Promise<StayingClient> {
    const requests = [["newHeads"], ["logs", {}]].map((params, id) =>
      JSON.stringify({ jsonrpc: "2.0", id, method: "eth_subscribe", params }),
    );
    return address.startsWith("ws:")
      ? StayingClient.#openWs(address, hashes, requests)
      : StayingClient.#openIpc(address, hashes, requests);
  }

  static async #openWs(url: string, hashes: BlockHashes, requests: readonly string[]) {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    const client = new StayingClient(hashes, () => socket.terminate());
    await new Promise<void>((resolve) => {
      let answers = 0;
      socket.on("message", (data: Buffer) => {
        if (!client.#take(data.toString()) && ++answers === requests.length) resolve();
      });
      for (const request of requests) socket.send(request);
    });
    return client;
  }

  static async #openIpc(path: string, hashes: BlockHashes, requests: readonly string[]) {
    const socket = connect(path);
    const client = new StayingClient(hashes, () => socket.destroy());
    await new Promise<void>((resolve) => {
      let answers = 0;
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1");
        const lines = text.split("\n");
        text = lines.pop()!;
        for (const line of lines) {
          if (!client.#take(line) && ++answers === requests.length) resolve();
        }
      });
      socket.write(requests.join("\n"));
    });
    return client;
  }

  leave(): void {
    this.#close();
  }

  /** True when `text` is a notice. */
  #take(text: string): boolean {
    const { params } = JSON.parse(text) as Notice;
    if (params === undefined) return false;
    const { result } = params;
    if (result.hash === undefined) {
      this.logs.push(placeOf(Number(result.blockNumber), Number(result.logIndex)));
      return true;
    }
    this.#hashes.check(Number(result.number), result.hash);
    this.heads.push(Number(result.number));
    return true;
  }
}

/** Turns of a client that stalls during which it does not read. */
const STALLED_TURNS = 4;
const HABITS = ["leaves", "vanishes", "stalls", "forgets filters", "falls silent"] as const;

/**
 * Connects, subscribes, and then, as its habit is, leaves politely, is gone at once, stops reading for a while, installs filters
 * and forgets them, or answers no ping any more. And comes back each time.
 */
export class RestlessClient {
  readonly #url: string;
  readonly #habit: (typeof HABITS)[number];
  #socket: WebSocket | undefined;
  #turns = 0;
  connections = 0;
  /** Times the node ended the connection. */
  timesCut = 0;

  constructor(url: string, index: number) {
    this.#url = url;
    this.#habit = HABITS[index % HABITS.length]!;
  }

  /** Takes the next turn of its habit. */
  act(): void {
    const socket = this.#socket;
    if (socket === undefined) this.#connect();
    if (socket?.readyState !== WebSocket.OPEN) return;
    this.#turns++;
    if (this.#habit === "leaves") socket.close();
    else if (this.#habit === "vanishes") socket.terminate();
    else if (this.#habit === "stalls") this.#stall(socket);
    else if (this.#habit === "forgets filters") this.#forgetFilter(socket);
    else this.#fallSilent(socket);
  }

  leave(): void {
    this.#socket?.terminate();
  }

  #stall(socket: WebSocket): void {
    if (this.#turns < STALLED_TURNS) {
      socket.pause();
      return;
    }
    this.#turns = 0;
    socket.resume();
  }

  #forgetFilter(socket: WebSocket): void {
    if (this.#turns % 3 === 0) socket.terminate();
    else socket.send(request(9, "eth_newPendingTransactionFilter", []));
  }

  /** The node has nothing to tell it but pings, and finds out by them. */
  #fallSilent(socket: WebSocket): void {
    // Reads again when the node must have given it up, to find out whether it did.
    if (this.#turns % 60 === 0) socket.resume();
    else if (!socket.isPaused) socket.pause();
  }

  #connect(): void {
    // Our own `ws` answers pings by itself unless told otherwise.
    const socket = new WebSocket(this.#url, { autoPong: this.#habit !== "falls silent" });
    this.#socket = socket;
    this.#turns = 0;
    this.connections++;
    socket.on("error", () => {});
    socket.on("close", (code) => {
      const hasStoppedReading = this.#habit === "stalls" || this.#habit === "falls silent";
      if (code === 1008 || (code === 1006 && hasStoppedReading)) this.timesCut++;
      if (this.#socket === socket) this.#socket = undefined;
    });
    socket.on("open", () => socket.send(`[${this.#subscriptions().join(",")}]`));
  }

  #subscriptions(): string[] {
    const wanted =
      this.#habit === "falls silent"
        ? [["syncing"]]
        : [
            ["newHeads", { includeTransactions: true, transactionDetails: true }],
            ["logs", {}],
            ["newPendingTransactions", true],
            ["transactionReceipts"],
          ];
    return wanted.map((params, id) => request(id, "eth_subscribe", params));
  }
}

function request(id: number, method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}
