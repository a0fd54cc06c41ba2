import type { Application } from "../abci-client.ts";
import { INFO_REQUEST } from "../handshake.ts";
import type { Hostility } from "../hostility.ts";
import type { Log } from "../log.ts";
import type { PeerMessage, SnapshotOffer } from "../messages.ts";
import type { Peers } from "../peers.ts";
import type { Settings } from "../settings.ts";
import type { ChainState } from "../types/chain-state.ts";
import { bytesOf, type Commit, digitsOf } from "../types/vote.ts";
import type { System } from "../world.ts";
import { ChunkQueue } from "./chunk-queue.ts";
import { type ForgedSnapshot, type Forgery, forgeSnapshot } from "./forged-snapshot.ts";
import { type LightClient, LightClientError } from "./light-client.ts";
import { SNAPSHOTS_MAX, SnapshotPool } from "./snapshot-pool.ts";

/** What the application says to a snapshot: of the offer, and of a chunk. */
const OFFER = ["unknown", "accept", "abort", "reject", "rejectFormat", "rejectSender"] as const;
const APPLY = ["unknown", "accept", "abort", "retry", "retrySnapshot", "reject"] as const;
type Outcome = (typeof OFFER)[number] | (typeof APPLY)[number] | "timeout";

export type Synced = { readonly state: ChainState; readonly commit: Commit };

type StateSyncModules = {
  readonly application: Application;
  readonly peers: () => Peers;
  readonly light: LightClient;
  readonly genesis: ChainState;
  readonly system: System;
  readonly random: () => number;
  readonly log: Log;
};

/** Begins with a snapshot of other nodes' application instead of all blocks: statesync/syncer.go. */
export class StateSync {
  readonly #settings: Settings["stateSync"];
  readonly #modules: StateSyncModules;
  readonly #pool = new SnapshotPool();
  #current: { readonly offer: SnapshotOffer; readonly chunks: ChunkQueue } | undefined;

  constructor(settings: Settings["stateSync"], modules: StateSyncModules) {
    this.#settings = settings;
    this.#modules = modules;
  }

  joined(id: string): void {
    this.#modules.peers().send(id, { kind: "snapshotsRequest" });
  }

  left(id: string): void {
    this.#pool.removePeer(id);
  }

  receive(from: string, message: PeerMessage): void {
    if (message.kind === "snapshots") for (const offer of message.snapshots) this.#pool.add(from, offer);
    if (message.kind !== "chunk" || message.isMissing || this.#current === undefined) return;
    const { offer, chunks } = this.#current;
    const { height, format, index, chunk } = message;
    if (height === offer.height && format === offer.format) chunks.add({ index, bytes: chunk, sender: from });
  }

  /** @throws Error: the node stays as it is, and does nothing */
  async run(): Promise<Synced> {
    const { log, peers } = this.#modules;
    const discover = () => {
      peers().broadcast({ kind: "snapshotsRequest" });
      return this.#pause(this.#settings.discoveryMs);
    };
    log.info("statesync", "Starting state sync");
    await discover();
    for (;;) {
      const offer = this.#pool.best;
      if (offer === undefined) await discover();
      else {
        const synced = await this.#sync(offer);
        if (synced) return synced;
      }
    }
  }

  /** @returns undefined where the snapshot, its format or its senders are rejected */
  async #sync(offer: SnapshotOffer): Promise<Synced | undefined> {
    const { light, genesis, log } = this.#modules;
    let target: Synced;
    let outcome: Outcome;
    try {
      const { appHash } = (await light.verified(offer.height + 1)).header;
      await light.verified(offer.height + 2);
      outcome = await this.#offer(offer, appHash);
      if (outcome !== "accept") return this.#rejected(offer, outcome);
      const { commit } = await light.verified(offer.height);
      target = { state: await light.stateAt(offer.height, genesis), commit };
    } catch (error) {
      if (!(error instanceof LightClientError)) throw error;
      log.info("statesync", "failed to fetch and verify app hash", { err: error.message });
      if (error.message.startsWith("no witnesses")) throw error;
      return this.#rejected(offer, "reject");
    }
    const { chunkFetchers, chunkRequestTimeoutMs } = this.#settings;
    const chunks = new ChunkQueue(
      {
        count: offer.chunks,
        fetchers: chunkFetchers,
        retryMs: chunkRequestTimeoutMs,
        request: (index) => this.#request(offer, index),
      },
      this.#modules.system,
    );
    this.#current = { offer, chunks };
    try {
      chunks.fetch();
      do {
        outcome = await this.#apply(chunks);
        if (outcome === "retrySnapshot") {
          chunks.retryAll();
          outcome = await this.#offer(offer, target.state.appHash);
          if (outcome === "accept") outcome = "retrySnapshot";
        }
      } while (outcome === "retrySnapshot");
    } finally {
      chunks.close();
      this.#current = undefined;
    }
    if (outcome !== "accept") return this.#rejected(offer, outcome);
    await this.#verify(offer, target.state);
    log.info("statesync", "Snapshot restored", { height: offer.height, format: offer.format });
    return target;
  }

  async #offer(offer: SnapshotOffer, appHash: string): Promise<Outcome> {
    const { application, log } = this.#modules;
    log.info("statesync", "Offering snapshot to ABCI app", { height: offer.height, format: offer.format });
    const snapshot = { ...offer, height: BigInt(offer.height) };
    const { result } = await application.snapshot.call("offerSnapshot", { snapshot, appHash: bytesOf(appHash) });
    return OFFER[result] ?? "unknown";
  }

  async #apply(chunks: ChunkQueue): Promise<Outcome> {
    for (;;) {
      const chunk = await chunks.next();
      if (chunk === "done") return "accept";
      if (chunk === "timeout") return chunk;
      const { index, bytes, sender } = chunk;
      const reply = await this.#modules.application.snapshot.call("applySnapshotChunk", {
        index,
        chunk: bytes,
        sender,
      });
      for (const each of reply.refetchChunks) chunks.discard(each);
      for (const each of reply.rejectSenders.filter(Boolean)) {
        this.#pool.rejectPeer(each);
        chunks.discardSender(each);
      }
      const outcome = APPLY[reply.result] ?? "unknown";
      if (outcome === "retry") chunks.retry(index);
      else if (outcome !== "accept") return outcome;
    }
  }

  #rejected(offer: SnapshotOffer, outcome: Outcome): undefined {
    const { log } = this.#modules;
    const { height, format } = offer;
    if (outcome === "abort") throw new Error("state sync has been aborted");
    if (outcome === "unknown") throw new Error("snapshot restoration failed: unknown result");
    if (outcome === "timeout") {
      log.error("statesync", "Timed out waiting for snapshot chunks, rejected snapshot", { height, format });
    } else log.info("statesync", "Snapshot rejected", { height, format });
    if (outcome === "rejectFormat") this.#pool.rejectFormat(format);
    else if (outcome === "rejectSender") for (const id of this.#pool.peersOf(offer)) this.#pool.rejectPeer(id);
    else this.#pool.reject(offer);
    return undefined;
  }

  /** @throws Error where the application does not say that it is where the snapshot is */
  async #verify({ height }: SnapshotOffer, { appHash, params }: ChainState): Promise<void> {
    const info = await this.#modules.application.query.call("info", INFO_REQUEST);
    if (Number(info.appVersion) !== params.appVersion) {
      throw new Error(`app version mismatch. Expected: ${params.appVersion}, got: ${info.appVersion}`);
    }
    if (digitsOf(info.lastBlockAppHash) !== appHash || Number(info.lastBlockHeight) !== height) {
      throw new Error("verification with app failed");
    }
  }

  #request(offer: SnapshotOffer, index: number): void {
    const { peers, random, log } = this.#modules;
    const candidates = this.#pool.peersOf(offer);
    const peer = candidates[Math.floor(random() * candidates.length)];
    const { height, format } = offer;
    if (peer === undefined) log.error("statesync", "No valid peers found for snapshot", { height, format });
    else peers().send(peer, { kind: "chunkRequest", height, format, index });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#modules.system.after(ms, resolve);
    });
  }
}

type SnapshotServerModules = Pick<StateSyncModules, "application" | "peers"> & { readonly hostility: Hostility };

/** Gives peers what the application has: statesync/reactor.go. */
export class SnapshotServer {
  readonly #modules: SnapshotServerModules;
  /** Of a dishonest node. */
  #forged: ForgedSnapshot | undefined;

  constructor(modules: SnapshotServerModules) {
    this.#modules = modules;
  }

  /** @returns false for a message of something else */
  receive(from: string, message: PeerMessage): boolean {
    if (message.kind === "snapshotsRequest") this.#serve(this.#offer(from));
    else if (message.kind === "chunkRequest") this.#serve(this.#load(from, message));
    else return false;
    return true;
  }

  #serve(answer: Promise<void>): void {
    answer.catch(() => {
      // The application is gone, and the process with it.
    });
  }

  async #offer(to: string): Promise<void> {
    const { application, peers, hostility } = this.#modules;
    this.#forged = undefined;
    const { snapshots } = await application.snapshot.call("listSnapshots", {});
    const newest = [...snapshots].sort((a, b) => Number(b.height - a.height) || b.format - a.format);
    const offers: SnapshotOffer[] = newest
      .slice(0, SNAPSHOTS_MAX)
      .map(({ height, format, chunks, hash, metadata }) => ({
        height: Number(height),
        format,
        chunks,
        hash: Uint8Array.from(hash),
        metadata: Uint8Array.from(metadata),
      }));
    const { forgery } = hostility;
    if (forgery && offers[0]) {
      this.#forged = await this.#forge(forgery, offers[0]);
      offers[0] = this.#forged.offer;
    }
    peers().send(to, { kind: "snapshots", snapshots: hostility.snapshots(offers) });
  }

  async #load(
    to: string,
    { height, format, index }: Extract<PeerMessage, { readonly kind: "chunkRequest" }>,
  ): Promise<void> {
    const { peers, hostility } = this.#modules;
    const forged = this.#forged;
    const isForged = forged?.offer.height === height && forged.offer.format === format;
    const chunk = isForged
      ? (forged.chunks[index] ?? new Uint8Array())
      : await this.#chunk({ height: BigInt(height), format, chunk: index });
    const isMissing = chunk.length === 0;
    peers().send(to, hostility.chunk({ kind: "chunk", height, format, index, chunk, isMissing }));
  }

  async #forge(kind: Forgery, { height, format, chunks }: SnapshotOffer): Promise<ForgedSnapshot> {
    const packed: Uint8Array[] = [];
    for (let chunk = 0; chunk < chunks; chunk++) {
      packed.push(await this.#chunk({ height: BigInt(height), format, chunk }));
    }
    return forgeSnapshot(kind, height, packed);
  }

  async #chunk(request: {
    readonly height: bigint;
    readonly format: number;
    readonly chunk: number;
  }): Promise<Uint8Array> {
    const { chunk } = await this.#modules.application.snapshot.call("loadSnapshotChunk", request);
    return Uint8Array.from(chunk);
  }
}
