import { createConnection, createServer, type Server, type Socket } from "node:net";
import { type Duplex, Transform } from "node:stream";

/** What does not reach its end: what is sent to a node, what it sends, or both. */
export type HeldDirection = "in" | "out" | "both";

/** The connections that one node dials to another, through a port that can be cut. */
type Link = {
  /** Node that dials; undefined: whichever knows the port. */
  readonly from: number | undefined;
  readonly to: number;
  readonly server: Server;
  readonly sockets: Set<Socket>;
  readonly connections: Set<Connection>;
  isCut: boolean;
  /** Nothing passes from the node that dials, or to it; the connections stay. */
  readonly held: { forth: boolean; back: boolean };
};

/** From the node that dials, and to the one that listens, with what the bytes for each pass through. */
type Connection = { readonly near: Socket; readonly far: Socket; readonly toNear: Duplex; readonly toFar: Duplex };

/** How slow a link is, and which share of its data must be sent again. */
export type LineQuality = {
  /** One way. */
  readonly delayMs: number;
  /** Share of the pieces that are lost, which TCP sends again: what follows waits for them. */
  readonly loss: number;
};

/** Linux's least time until a lost segment is sent again, where no later one shows the loss: messages of consensus are far apart. */
const RETRANSMISSION_MS = 200;

/** What is written to it reaches `sink` as late as `quality` says, in order. */
function delayed(sink: Socket, { delayMs, loss }: LineQuality): Duplex {
  if (delayMs === 0 && loss === 0) return sink;
  const waiting: Buffer[] = [];
  let arrivesAt = 0;
  const line = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const again = Math.random() < loss ? RETRANSMISSION_MS + 2 * delayMs : 0;
      arrivesAt = Math.max(arrivesAt, performance.now() + delayMs + again);
      waiting.push(chunk);
      // Timers of different lengths that end at the same time may do so in any order.
      setTimeout(() => this.destroyed || this.push(waiting.shift()), arrivesAt - performance.now());
      done();
    },
    // The end is as late as what came before it.
    flush(done) {
      setTimeout(done, Math.max(delayMs, arrivesAt - performance.now()));
    },
  });
  line.pipe(sink);
  return line;
}

/** Each side ends with the other; `sockets` contains the open ones. */
export function joinSockets(near: Socket, far: Socket, sockets: Set<Socket>): void {
  for (const [socket, other] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
  }
}

/** Has `source` go on to `sink`, or stay where it is until the next call. */
function setFlow(source: Socket, sink: Duplex, isHeld: boolean): void {
  source.unpipe(sink);
  if (isHeld) source.pause();
  else source.pipe(sink);
}

/** TCP proxies between the nodes of a network: one port for each direction of each pair. */
export class Links {
  readonly #links: Link[] = [];
  /** Of connections that begin from now on. */
  quality: LineQuality = { delayMs: 0, loss: 0 };

  /** Listens on `port` for what node `from` sends to node `to`, which listens on `target`. @param from undefined: any node may */
  async open(from: number | undefined, to: number, port: number, target: number): Promise<void> {
    const link: Link = {
      from,
      to,
      server: createServer(),
      sockets: new Set(),
      connections: new Set(),
      isCut: false,
      held: { forth: false, back: false },
    };
    link.server.on("connection", (near) => {
      if (link.isCut) {
        near.destroy();
        return;
      }
      const far = createConnection(target, "127.0.0.1");
      const connection = { near, far, toNear: delayed(near, this.quality), toFar: delayed(far, this.quality) };
      for (const socket of [near, far]) socket.setNoDelay(true);
      joinSockets(near, far, link.sockets);
      link.connections.add(connection);
      near.on("close", () => link.connections.delete(connection));
      applyHolds(link);
    });
    await new Promise<void>((resolve, reject) => {
      link.server.once("error", reject);
      link.server.listen(port, "127.0.0.1", resolve);
    });
    this.#links.push(link);
  }

  /** Ends every connection of `node` and accepts none until `mend`. */
  cut(node: number): void {
    for (const link of this.#of(node)) cutLink(link);
  }

  /**
   * Lets nothing through of what `node` sends, or of what others send to it, until `mend`. No connection ends, as in a network that loses packets. One
   * that any node may have dialed ends.
   */
  hold(node: number, direction: HeldDirection): void {
    for (const link of this.#of(node)) {
      if (link.from === undefined) {
        cutLink(link);
        continue;
      }
      const [sends, hears] = [direction !== "in", direction !== "out"];
      link.held.forth = link.from === node ? sends : hears;
      link.held.back = link.from === node ? hears : sends;
      applyHolds(link);
    }
  }

  /** Ends the connections between the nodes of `group` and all others, and accepts none of them until each node is mended. */
  part(group: readonly number[]): void {
    for (const link of this.#links) {
      if (link.from === undefined || group.includes(link.from) !== group.includes(link.to)) cutLink(link);
    }
  }

  mend(node: number): void {
    for (const link of this.#of(node)) {
      link.isCut = false;
      link.held.forth = false;
      link.held.back = false;
      applyHolds(link);
    }
  }

  close(): void {
    for (const { server, sockets } of this.#links) {
      server.close();
      for (const socket of sockets) socket.destroy();
    }
  }

  #of(node: number): readonly Link[] {
    return this.#links.filter(({ from, to }) => from === undefined || from === node || to === node);
  }
}

function cutLink(link: Link): void {
  link.isCut = true;
  for (const socket of link.sockets) socket.destroy();
}

function applyHolds({ connections, held }: Link): void {
  for (const { near, far, toNear, toFar } of connections) {
    setFlow(near, toFar, held.forth);
    setFlow(far, toNear, held.back);
  }
}
