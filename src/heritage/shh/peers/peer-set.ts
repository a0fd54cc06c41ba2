import type { SealedEnvelope } from "../envelope.ts";
import type { Whisper } from "../whisper.ts";
import { type Offence, Peer, type PeerOptions, type PeerStream } from "./peer.ts";

type PeerSetOptions = PeerOptions & {
  readonly peersMax: number;
  /** Duration of a ban for a protocol violation. */
  readonly banMs: number;
};

type PeerSetModules = {
  readonly whisper: Pick<Whisper, "receive" | "pool" | "onEnvelope">;
  readonly nowMs: () => number;
  readonly onOffence: (id: string, reason: Offence) => void;
};

/** Remembered bans; creating ids is free. */
const BANS_MAX = 10_000;

/** Connected peers, with one stream each, and banned peers, by the id of their key. */
export class PeerSet {
  readonly #options: PeerSetOptions;
  readonly #modules: PeerSetModules;
  readonly #peers = new Map<string, Peer>();
  readonly #bannedUntilMs = new Map<string, number>();

  constructor(options: PeerSetOptions, modules: PeerSetModules) {
    this.#options = options;
    this.#modules = modules;
    modules.whisper.onEnvelope((envelope) => this.#offer(envelope));
  }

  get size(): number {
    return this.#peers.size;
  }

  ids(): string[] {
    return [...this.#peers.keys()];
  }

  has(id: string): boolean {
    return this.#peers.has(id);
  }

  isBanned(id: string): boolean {
    return (this.#bannedUntilMs.get(id) ?? 0) > this.#modules.nowMs();
  }

  /** The peer on a new stream; undefined if it is rejected: banned, already connected, or one too many. */
  connect(id: string, stream: PeerStream): Peer | undefined {
    const isFull = this.#peers.size >= this.#options.peersMax;
    if (isFull || this.#peers.has(id) || this.isBanned(id)) return undefined;
    const peer = new Peer(stream, this.#options, {
      ...this.#modules,
      onOffence: (reason) => this.#offended(id, reason),
    });
    this.#peers.set(id, peer);
    peer.flush();
    return peer;
  }

  disconnected(id: string, peer: Peer): void {
    peer.closed();
    if (this.#peers.get(id) === peer) this.#peers.delete(id);
  }

  /** Sends new envelopes. */
  flush(): void {
    for (const peer of this.#peers.values()) peer.flush();
  }

  /** Call it about every second. */
  check(): void {
    for (const peer of [...this.#peers.values()]) peer.check();
    const now = this.#modules.nowMs();
    for (const [id, until] of this.#bannedUntilMs) {
      if (until <= now || this.#bannedUntilMs.size > BANS_MAX) this.#bannedUntilMs.delete(id);
    }
  }

  #offer(envelope: SealedEnvelope): void {
    for (const peer of this.#peers.values()) peer.offer(envelope);
  }

  #offended(id: string, reason: Offence): void {
    this.#peers.delete(id);
    // A silent or slow peer may come back.
    if (reason !== "silent" && reason !== "slow") {
      this.#bannedUntilMs.set(id, this.#modules.nowMs() + this.#options.banMs);
    }
    this.#modules.onOffence(id, reason);
  }
}
