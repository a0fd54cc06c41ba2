import type { Application } from "./abci-client.ts";
import type { Hostility } from "./hostility.ts";
import type { Log } from "./log.ts";
import type { NodeInfo, PeerMessage } from "./messages.ts";
import type { PeerNetwork, System, World } from "./world.ts";

/** A connected node that both sides have agreed to talk to. */
export type Peer = {
  readonly id: string;
  readonly info: NodeInfo;
  readonly isOutbound: boolean;
  /** Milliseconds since 1970. */
  readonly since: number;
};

type PeersOptions = {
  readonly own: NodeInfo;
  /** `host:port` */
  readonly listen: string;
  readonly persistent: readonly string[];
  readonly filterPeers: boolean;
};

type PeersModules = {
  readonly world: World;
  readonly system: System;
  readonly application: Application;
  readonly hostility: Hostility;
  readonly log: Log;
  readonly events: {
    joined(peer: Peer): void;
    left(id: string): void;
    message(id: string, message: PeerMessage): void;
  };
};

/** Persistent peers are dialled first after up to so long, and again so long after a connection is lost (p2p/switch.go). */
const FIRST_DIAL_MS_MAX = 3_000;
const REDIAL_MS = 5_000;
/** A peer that has not said who it is by then is left (p2p/transport.go). */
const HANDSHAKE_MS = 20_000;
/** What introduces a node can be lost here, which TCP excludes. */
const HELLO_AGAIN_MS = 1_000;

/** A connection on which the other side has not been admitted yet. */
type Pending = { readonly isOutbound: boolean; readonly since: number };

/** Connections to peers: asks the application about each, exchanges who is who, and dials persistent ones until they are there. */
export class Peers {
  readonly #options: PeersOptions;
  readonly #modules: PeersModules;
  readonly #network: PeerNetwork;
  readonly #peers = new Map<string, Peer>();
  readonly #pending = new Map<string, Pending>();
  /** What peers said before it was known that they are connected. */
  readonly #early = new Map<string, PeerMessage>();
  readonly #persistent = new Set<string>();
  #isStopped = false;

  constructor(options: PeersOptions, modules: PeersModules) {
    this.#options = options;
    this.#modules = modules;
    this.#network = modules.world.peers(
      { id: options.own.id, listen: options.listen },
      {
        connected: (id, outbound) => this.#connected(id, outbound),
        disconnected: (id) => this.#disconnected(id),
        message: (id, message) => this.#message(id, message),
      },
    );
    for (const address of options.persistent) this.dial(address, true);
  }

  get connected(): IterableIterator<Peer> {
    return this.#peers.values();
  }

  get ids(): IterableIterator<string> {
    return this.#peers.keys();
  }

  get count(): number {
    return this.#peers.size;
  }

  has(id: string): boolean {
    return this.#peers.has(id);
  }

  send(id: string, message: PeerMessage): void {
    if (this.#peers.has(id)) this.#network.send(id, message);
  }

  broadcast(message: PeerMessage): void {
    for (const id of this.#peers.keys()) this.#network.send(id, message);
  }

  disconnect(id: string): void {
    this.#network.disconnect(id);
    this.#disconnected(id);
  }

  /** @param address `id@host:port`. @param isPersistent it is dialled until it is there */
  dial(address: string, isPersistent: boolean): void {
    if (!isPersistent) {
      this.#network.dial(address);
      return;
    }
    if (this.#persistent.has(address)) return;
    this.#persistent.add(address);
    const { world, system } = this.#modules;
    system.after(world.random() * FIRST_DIAL_MS_MAX, () => this.#redial(address));
  }

  stop(): void {
    this.#isStopped = true;
  }

  #redial(address: string): void {
    if (this.#isStopped) return;
    const [id = ""] = address.split("@");
    if (!this.#peers.has(id) && !this.#pending.has(id)) this.#network.dial(address);
    this.#modules.system.after(REDIAL_MS, () => this.#redial(address));
  }

  #connected(id: string, isOutbound: boolean): void {
    // The other end began anew before this one heard that the last connection is over.
    if (this.#peers.delete(id)) this.#modules.events.left(id);
    const pending = { isOutbound, since: this.#modules.system.now() };
    this.#pending.set(id, pending);
    const early = this.#early.get(id);
    this.#early.delete(id);
    this.#introduce(id, pending);
    if (early) this.#message(id, early);
  }

  /** Says who this node is until the other end has answered. */
  #introduce(id: string, pending: Pending): void {
    const { system, log } = this.#modules;
    if (this.#pending.get(id) !== pending) return;
    if (system.now() - pending.since >= HANDSHAKE_MS) {
      log.info("p2p", "Inbound Peer rejected", { err: "handshake failed: i/o timeout", numPeers: this.#peers.size });
      this.disconnect(id);
      return;
    }
    this.#hello(id, true);
    system.after(HELLO_AGAIN_MS, () => this.#introduce(id, pending));
  }

  #hello(id: string, isQuestion: boolean): void {
    const info = this.#modules.hostility.nodeInfo(this.#options.own);
    this.#network.send(id, { kind: "hello", info, isQuestion });
  }

  #disconnected(id: string): void {
    this.#pending.delete(id);
    this.#early.delete(id);
    if (this.#peers.delete(id)) this.#modules.events.left(id);
  }

  #message(id: string, message: PeerMessage): void {
    if (message.kind === "hello") {
      if (!this.#pending.has(id) && !this.#peers.has(id)) this.#early.set(id, message);
      else if (message.isQuestion) this.#hello(id, false);
      this.#greeted(id, message.info).catch(() => {
        // The application is gone, and the process with it.
      });
    } else if (this.#peers.has(id)) this.#modules.events.message(id, message);
  }

  async #greeted(id: string, info: NodeInfo): Promise<void> {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    const { own } = this.#options;
    const { log, system, events } = this.#modules;
    const fault =
      info.network !== own.network
        ? `peer is on a different network. Got ${info.network}, expected ${own.network}`
        : (await this.#isAllowed(id, info))
          ? undefined
          : "filtered CONN: removed";
    // It can be gone, or have come back, while the application was asked.
    if (this.#pending.get(id) !== pending) return;
    if (fault !== undefined) {
      log.info("p2p", "Inbound Peer rejected", { err: fault, numPeers: this.#peers.size });
      this.disconnect(id);
      return;
    }
    this.#pending.delete(id);
    const peer = { id, info, isOutbound: pending.isOutbound, since: system.now() };
    this.#peers.set(id, peer);
    events.joined(peer);
  }

  /** Code 0 of the application allows a connection. */
  async #isAllowed(id: string, { listen }: NodeInfo): Promise<boolean> {
    if (!this.#options.filterPeers) return true;
    const { query } = this.#modules.application;
    for (const path of [`/p2p/filter/addr/${listen.replace("tcp://", "")}`, `/p2p/filter/id/${id}`]) {
      if ((await query.call("query", { path })).code !== 0) return false;
    }
    return true;
  }
}
