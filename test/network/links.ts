import { createConnection, createServer, type Server, type Socket } from "node:net";

/** The connections that one node dials to another, through a port that can be cut. */
type Link = { readonly server: Server; readonly sockets: Set<Socket>; isCut: boolean };

/** Each ends with the other; `sockets` has those that are open. */
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

/** TCP proxies between the nodes of a network: one port for each direction of each pair. */
export class Links {
  readonly #links = new Map<string, Link>();

  /** Listens on `port` for what node `from` sends to node `to`, which listens on `target`. */
  async open(from: number, to: number, port: number, target: number): Promise<void> {
    const link: Link = { server: createServer(), sockets: new Set(), isCut: false };
    link.server.on("connection", (near) => {
      if (link.isCut) {
        near.destroy();
        return;
      }
      const far = createConnection(target, "127.0.0.1");
      for (const socket of [near, far]) socket.setNoDelay(true);
      joinSockets(near, far, link.sockets);
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve, reject) => {
      link.server.once("error", reject);
      link.server.listen(port, "127.0.0.1", resolve);
    });
    this.#links.set(`${from}-${to}`, link);
  }

  /** Ends every connection of `node` and accepts none until `mend`. */
  cut(node: number): void {
    for (const link of this.#of(node)) {
      link.isCut = true;
      for (const socket of link.sockets) socket.destroy();
    }
  }

  mend(node: number): void {
    for (const link of this.#of(node)) link.isCut = false;
  }

  close(): void {
    for (const { server, sockets } of this.#links.values()) {
      server.close();
      for (const socket of sockets) socket.destroy();
    }
  }

  #of(node: number): readonly Link[] {
    return [...this.#links].filter(([pair]) => pair.split("-").includes(String(node))).map(([, link]) => link);
  }
}
