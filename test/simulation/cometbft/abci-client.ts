import {
  type AbciReply,
  type AbciRequest,
  decodeReply,
  FrameReader,
  requestFrame,
} from "../../../src/consensus/cometbft/abci/frames.ts";
import type { CallName, Reply, Request } from "../../../src/consensus/cometbft/abci/messages.ts";
import type { AbciEvent } from "./contract/abci-contract.ts";
import type { SocketLike, System, World } from "./world.ts";

/** The application does not answer any more. */
export class ApplicationGoneError extends Error {}

type OnGone = (error: ApplicationGoneError) => void;
type Waiting = { readonly resolve: (reply: AbciReply) => void; readonly reject: (error: Error) => void };

const FLUSH = requestFrame("flush", {});

/** One connection to the application: each call is followed by a flush, whose reply the caller waits for. */
class AbciConnection {
  readonly #socket: SocketLike;
  readonly #frames = new FrameReader();
  readonly #waiting: Waiting[] = [];
  readonly #observe: ((event: AbciEvent) => void) | undefined;
  #gone: ApplicationGoneError | undefined;

  /** @param onGone called once, when the connection ends or fails */
  constructor(
    socket: SocketLike,
    { onGone, observe }: { readonly onGone: OnGone; readonly observe: ((event: AbciEvent) => void) | undefined },
  ) {
    this.#socket = socket;
    this.#observe = observe;
    observe?.({ kind: "open" });
    const end = (reason: string) => {
      if (this.#gone) return;
      const error = new ApplicationGoneError(reason);
      this.#gone = error;
      socket.destroy();
      observe?.({ kind: "close" });
      onGone(error);
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    };
    socket.on("data", (chunk) => {
      for (const body of this.#frames.push(chunk)) {
        const reply = decodeReply(body);
        observe?.({ kind: "reply", message: reply });
        if (reply.call === "exception") end(reply.fields.error);
        else this.#waiting.shift()?.resolve(reply);
      }
    });
    socket.on("error", () => {});
    socket.on("close", () => end("EOF"));
  }

  /** @throws ApplicationGoneError */
  async call<Name extends CallName>(name: Name, fields: Partial<Request<Name>>): Promise<Reply<Name>> {
    const frame = requestFrame(name, fields);
    // Fields that no simulation reads are omitted.
    if (!this.#gone) this.#observe?.({ kind: "request", message: { call: name, fields } as unknown as AbciRequest });
    const reply = this.#next();
    const flushed = this.#next();
    flushed.catch(() => {});
    if (!this.#gone) this.#socket.write(Buffer.concat([frame, FLUSH]));
    const answer = await reply;
    await flushed;
    if (answer.call !== name) throw new ApplicationGoneError(`unexpected response ${answer.call} to ${name}`);
    return answer.fields as Reply<Name>;
  }

  async flush(): Promise<void> {
    const reply = this.#next();
    if (!this.#gone) this.#socket.write(FLUSH);
    await reply;
  }

  close(): void {
    this.#socket.destroy();
  }

  #next(): Promise<AbciReply> {
    return new Promise((resolve, reject) => {
      if (this.#gone) reject(this.#gone);
      else this.#waiting.push({ resolve, reject });
    });
  }
}

const DIAL_RETRY_MS = 3_000;

/** The four connections of CometBFT to its application, opened in its order. */
export class Application {
  readonly query: AbciConnection;
  readonly snapshot: AbciConnection;
  readonly mempool: AbciConnection;
  readonly consensus: AbciConnection;

  private constructor(connections: readonly AbciConnection[]) {
    const [query, snapshot, mempool, consensus] = connections as [
      AbciConnection,
      AbciConnection,
      AbciConnection,
      AbciConnection,
    ];
    this.query = query;
    this.snapshot = snapshot;
    this.mempool = mempool;
    this.consensus = consensus;
  }

  /** Waits until the application listens. @param onGone called for each connection that ends */
  static async connect(
    address: string,
    {
      system,
      observe,
      onGone,
    }: { readonly system: System; readonly observe: World["observeAbci"]; readonly onGone: OnGone },
  ): Promise<Application> {
    const connections: AbciConnection[] = [];
    while (connections.length < 4) {
      const number = connections.length;
      const socket = await dial(system, address);
      const observeOne = observe && ((event: AbciEvent) => observe(number, event));
      connections.push(new AbciConnection(socket, { onGone, observe: observeOne }));
    }
    return new Application(connections);
  }
}

export type { AbciConnection };

function dial(system: System, address: string): Promise<SocketLike> {
  return new Promise((resolve) => {
    const attempt = () => {
      const socket = system.connect(address);
      let isOpen = false;
      socket.on("connect", () => {
        isOpen = true;
        resolve(socket);
      });
      socket.on("error", () => {
        if (!isOpen) system.after(DIAL_RETRY_MS, attempt);
      });
    };
    attempt();
  });
}
