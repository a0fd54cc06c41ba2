import type { PeerMessage } from "../messages.ts";
import type { PeerEvents, PeerNetwork } from "../world.ts";
import type { ProcessTime, VirtualTime } from "./virtual-time.ts";

type LinkFaults = {
  /** Shares of messages, in [0, 1). */
  readonly lost: number;
  readonly doubled: number;
  /** Milliseconds. */
  readonly delayMin: number;
  readonly delayMax: number;
};

type Endpoint = {
  readonly id: string;
  readonly listen: string;
  readonly events: PeerEvents;
  readonly time: ProcessTime;
};

const PERFECT: LinkFaults = { lost: 0, doubled: 0, delayMin: 1, delayMax: 5 };

/** Connections between the nodes of a test, in virtual time. */
export class PeerLinks {
  faults: LinkFaults = PERFECT;
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #endpoints = new Map<string, Endpoint>();
  /** Pairs that are connected, with the number of their connection: messages of one before are lost. */
  readonly #links = new Map<string, number>();
  #connections = 0;
  #isParted: (a: string, b: string) => boolean = () => false;

  constructor(time: VirtualTime, random: () => number) {
    this.#time = time;
    this.#random = random;
  }

  open(own: { readonly id: string; readonly listen: string }, events: PeerEvents, time: ProcessTime): PeerNetwork {
    const endpoint = { ...own, events, time };
    this.close(own.id);
    this.#endpoints.set(own.id, endpoint);
    return {
      dial: (address) => this.#dial(endpoint, address),
      send: (id, message) => this.#send(own.id, id, message),
      disconnect: (id) => this.#break(own.id, id),
    };
  }

  /** The process of a node has ended. */
  close(id: string): void {
    for (const key of [...this.#links.keys()]) {
      const [a = "", b = ""] = key.split("/");
      if (a === id || b === id) this.#break(a, b);
    }
    this.#endpoints.delete(id);
  }

  /** Parts nodes: what was connected breaks. */
  part(isParted: (a: string, b: string) => boolean): void {
    this.#isParted = isParted;
    for (const key of [...this.#links.keys()]) {
      const [a = "", b = ""] = key.split("/");
      if (isParted(a, b)) this.#break(a, b);
    }
  }

  #dial(from: Endpoint, address: string): void {
    const [id = ""] = address.split("@");
    this.#later(() => {
      const to = this.#endpoints.get(id);
      const key = keyOf(from.id, id);
      const isOpen = to !== undefined && this.#endpoints.get(from.id) === from && !this.#isParted(from.id, id);
      if (!isOpen || this.#links.has(key)) return;
      this.#links.set(key, ++this.#connections);
      to.time.after(0, () => to.events.connected(from.id, false));
      // Later than what the other end says at once.
      const link = this.#connections;
      this.#later(() => {
        if (this.#links.get(key) === link && !from.time.isEnded) from.events.connected(id, true);
      });
    });
  }

  #break(a: string, b: string): void {
    if (!this.#links.delete(keyOf(a, b))) return;
    for (const [id, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const endpoint = this.#endpoints.get(id);
      endpoint?.time.after(0, () => endpoint.events.disconnected(other));
    }
  }

  #send(from: string, to: string, message: PeerMessage): void {
    const link = this.#links.get(keyOf(from, to));
    if (link === undefined) return;
    if (this.#random() < this.faults.lost) return;
    const copies = this.#random() < this.faults.doubled ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      this.#later(() => {
        const endpoint = this.#endpoints.get(to);
        if (endpoint === undefined || this.#links.get(keyOf(from, to)) !== link || endpoint.time.isEnded) return;
        endpoint.events.message(from, message);
      });
    }
  }

  #later(task: () => void): void {
    const { delayMin, delayMax } = this.faults;
    this.#time.after(delayMin + this.#random() * (delayMax - delayMin), task);
  }
}

function keyOf(a: string, b: string): string {
  return a < b ? `${a}/${b}` : `${b}/${a}`;
}
