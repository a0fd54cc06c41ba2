import type { HttpHandler, Machine } from "./machine.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Simulation } from "./simulation.ts";

/** What a process hears of its peers. */
export type PeerEvents<Message> = {
  connected(id: string, isOutbound: boolean): void;
  disconnected(id: string): void;
  message(id: string, message: Message): void;
};

/** What a process does with its peers. */
export type PeerNetwork<Message> = {
  /** @param address `id@host:port` */
  dial(address: string): void;
  send(id: string, message: Message): void;
  disconnect(id: string): void;
  readonly connected: readonly string[];
};

/** What goes wrong between two machines, one way. Probabilities are of each message. */
export type LinkFaults = {
  loss: number;
  doubling: number;
  /** Of a message that is overtaken by later ones. */
  reordering: number;
  /** Milliseconds that each message takes, and at most longer. */
  latencyMs: number;
  jitterMs: number;
  isCut: boolean;
};

const HEALTHY: Readonly<LinkFaults> = { loss: 0, doubling: 0, reordering: 0, latencyMs: 2, jitterMs: 1, isCut: false };

/** A connection over which nothing arrives is given up after so long. */
const SILENCE_MS_MAX = 15_000;

class Endpoint {
  readonly id: string;
  readonly process: SimulatedProcess;
  readonly events: PeerEvents<unknown>;
  /** Of the other end, while it is connected. */
  readonly peers = new Map<string, Endpoint>();
  /** When this end hears that a connection stands: nothing comes over it before. */
  readonly opensAt = new Map<string, number>();

  constructor(id: string, process: SimulatedProcess, events: PeerEvents<unknown>) {
    this.id = id;
    this.process = process;
    this.events = events;
  }

  get machine(): Machine {
    return this.process.machine;
  }
}

/** All that goes between machines: connections of peers, and HTTP. */
export class Network {
  readonly #simulation: Simulation;
  readonly #random: Random;
  readonly #links = new Map<string, LinkFaults>();
  /** By `host:port`. */
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #machines = new Map<string, Machine>();
  messages = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    this.#random = simulation.random.stream("network");
  }

  addMachine(machine: Machine): void {
    this.#machines.set(machine.address, machine);
  }

  /** The way from one machine to another. */
  link(from: Machine, to: Machine): LinkFaults {
    const key = `${from.name} ${to.name}`;
    let link = this.#links.get(key);
    if (link === undefined) {
      link = { ...HEALTHY };
      this.#links.set(key, link);
    }
    return link;
  }

  heal(): void {
    for (const link of this.#links.values()) Object.assign(link, HEALTHY);
  }

  /** Listens for peers as the process `process`. @param listen `host:port`, where the host is the machine's address */
  peers<Message>(
    process: SimulatedProcess,
    own: { readonly id: string; readonly listen: string },
    events: PeerEvents<Message>,
  ): PeerNetwork<Message> {
    const address = `${process.machine.address}:${own.listen.slice(own.listen.lastIndexOf(":") + 1)}`;
    const endpoint = new Endpoint(own.id, process, events as PeerEvents<unknown>);
    this.#endpoints.set(address, endpoint);
    process.onExit(() => {
      if (this.#endpoints.get(address) === endpoint) this.#endpoints.delete(address);
      for (const peer of [...endpoint.peers.values()]) this.#part(endpoint, peer);
    });
    return {
      dial: (target) => this.#dial(endpoint, target),
      send: (id, message) => this.#send(endpoint, id, message),
      disconnect: (id) => {
        const peer = endpoint.peers.get(id);
        if (peer) this.#part(endpoint, peer);
      },
      get connected() {
        return [...endpoint.peers.keys()];
      },
    };
  }

  /** One request. `onAnswer` gets undefined if no process answers. */
  callHttp(
    call: {
      readonly from: Machine;
      readonly address: string;
      readonly request: Parameters<HttpHandler>[0];
    },
    onAnswer: (answer: Awaited<ReturnType<HttpHandler>> | undefined) => void,
  ): void {
    const { from, address, request } = call;
    const host = address.slice(0, address.lastIndexOf(":"));
    const isLocal = address.startsWith("/");
    const to = isLocal ? from : this.#machines.get(host);
    const service = to?.httpServers.get(isLocal ? address : address.slice(host.length + 1));
    if (to === undefined || service === undefined) {
      this.#simulation.after(1, undefined, () => onAnswer(undefined));
      return;
    }
    const travel = isLocal ? () => 0.1 : () => this.#travel(from, to)[0];
    const back = isLocal ? () => 0.1 : () => this.#travel(to, from)[0];
    const there = travel();
    if (there === undefined) return;
    this.#simulation.after(there, service.process, () => {
      void service.target(request).then(
        (answer) => {
          const ms = back();
          if (ms !== undefined) this.#simulation.after(ms, undefined, () => onAnswer(answer));
        },
        () => this.#simulation.after(back() ?? 1, undefined, () => onAnswer(undefined)),
      );
    });
  }

  #dial(from: Endpoint, target: string): void {
    const [id = "", address = ""] = target.split("@");
    const to = this.#endpoints.get(address);
    if (to === undefined || to.id !== id || to === from || from.peers.has(id)) return;
    const there = this.#travel(from.machine, to.machine)[0];
    const back = this.#travel(to.machine, from.machine)[0];
    if (there === undefined || back === undefined) return;
    this.#simulation.after(there, to.process, () => {
      if (!from.process.isAlive || from.peers.has(to.id) || to.peers.has(from.id)) return;
      from.peers.set(to.id, to);
      to.peers.set(from.id, from);
      from.opensAt.set(to.id, this.#simulation.now + back);
      to.opensAt.set(from.id, this.#simulation.now);
      this.#simulation.after(back, from.process, () => {
        if (from.peers.get(to.id) === to) from.events.connected(to.id, true);
      });
      to.events.connected(from.id, false);
    });
  }

  #send(from: Endpoint, id: string, message: unknown): void {
    const to = from.peers.get(id);
    if (to === undefined) return;
    this.messages++;
    const msMin = (to.opensAt.get(from.id) ?? 0) - this.#simulation.now;
    for (const ms of this.#travel(from.machine, to.machine)) {
      this.#simulation.after(Math.max(ms, msMin), to.process, () => {
        if (to.peers.get(from.id) === from) to.events.message(from.id, message);
      });
    }
  }

  /** Milliseconds after which each copy of a message arrives: none where it is lost. */
  #travel(from: Machine, to: Machine): number[] {
    const link = this.link(from, to);
    const random = this.#random;
    if (link.isCut || (link.loss > 0 && random.chance(link.loss))) return [];
    const copies = link.doubling > 0 && random.chance(link.doubling) ? 2 : 1;
    return Array.from({ length: copies }, () => {
      const late = link.reordering > 0 && random.chance(link.reordering) ? random.between(0, 10 * link.latencyMs) : 0;
      return link.latencyMs + random.between(0, link.jitterMs) + late;
    });
  }

  /** A connection ends: at once for the one that ends it, for the other when it hears of it. */
  #part(from: Endpoint, to: Endpoint): void {
    from.peers.delete(to.id);
    if (from.process.isAlive) from.process.after(0, () => from.events.disconnected(to.id));
    const ms = this.#travel(from.machine, to.machine)[0] ?? SILENCE_MS_MAX;
    const openedAt = to.opensAt.get(from.id);
    this.#simulation.after(ms, to.process, () => {
      // They can have connected anew meanwhile.
      if (to.peers.get(from.id) !== from || to.opensAt.get(from.id) !== openedAt) return;
      to.peers.delete(from.id);
      to.events.disconnected(from.id);
    });
  }

  /** Ends connections over which nothing can arrive, as the pings of CometBFT do. Called when a link is cut. */
  timeOut(): void {
    this.#simulation.after(SILENCE_MS_MAX, undefined, () => {
      for (const endpoint of this.#endpoints.values()) {
        for (const peer of [...endpoint.peers.values()]) {
          if (this.link(endpoint.machine, peer.machine).isCut || this.link(peer.machine, endpoint.machine).isCut) {
            this.#part(endpoint, peer);
          }
        }
      }
    });
  }
}
