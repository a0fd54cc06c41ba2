import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Failures } from "../../base/telemetry/failures.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import { declareGauges, type Metrics } from "../../base/telemetry/metrics.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";
import { Pool } from "../../base/threads/pool.ts";
import { PeerAddressError, WhisperLimitError } from "../../heritage/shh/errors.ts";
import type { WhisperWork } from "../../heritage/shh/find-work.thread.ts";
import { Identities, type IdentityFile } from "../../heritage/shh/identities.ts";
import { startTransport, type WhisperTransport } from "../../heritage/shh/peers/libp2p-transport.ts";
import { PeerSet } from "../../heritage/shh/peers/peer-set.ts";
import type { ShhPort } from "../../heritage/shh/port.ts";
import { WHISPER_LIMITS, Whisper } from "../../heritage/shh/whisper.ts";
import { randomId } from "../../rpc/methods/filters/random-id.ts";
import { makeFolder } from "../../store/storage/make-folder.ts";
import { replaceFile } from "../../store/storage/replace-file.ts";
import type { Config } from "../config/config.ts";
import { whisperIdentitiesPath } from "../config/home.ts";
import { nodeKey } from "../config/secrets.ts";

/** The interval of the historic nodes. */
const SWEEP_MS = 800;
/** Proof of work for one post, which takes ten seconds at most, and the start of the thread. */
const WORK_MS_MAX = 30_000;

type WhisperConfig = Pick<Config, "home" | "shh" | "limits">;

type WhisperServiceModules = {
  readonly log: Logger;
  readonly failures: Failures;
  readonly timers: Timers;
  readonly metrics: Metrics;
  /** Hosts of the chain's peers; empty if the node has none. */
  readonly networkHosts: () => readonly string[];
};

/** Whisper in this node. It reads and starts nothing before its first use, unless it has peers or listens for them. */
export class WhisperService {
  readonly port: ShhPort = {
    newIdentity: () => this.#whisper().newIdentity(),
    hasIdentity: ({ identity }) => this.#whisper().hasIdentity(identity),
    post: async (post) => this.#whisper().post(post),
    newGroup: async ({ from, members }) => this.#whisper().newGroup(from, members),
    addToGroup: async ({ group, who }) => this.#whisper().addToGroup(group, who),
    newMessageFilter: (criteria) => this.#whisper().newFilter(criteria),
    uninstallMessageFilter: ({ id }) => this.#whisper().uninstallFilter(id),
    messageFilterChanges: ({ id }) => this.#whisper().filterChanges(id),
    messages: ({ id }) => this.#whisper().messages(id),
  };
  readonly #config: WhisperConfig;
  readonly #modules: WhisperServiceModules;
  readonly #worker: Pool<WhisperWork>;
  #started: { readonly whisper: Whisper; readonly timer: Timer } | undefined;
  #peers: PeerSet | undefined;
  #transport: WhisperTransport | undefined;

  private constructor(config: WhisperConfig, modules: WhisperServiceModules) {
    this.#config = config;
    this.#modules = modules;
    this.#worker = new Pool<WhisperWork>(
      {
        entry: "heritage/shh/find-work.thread",
        count: 1,
        waitingMax: WHISPER_LIMITS.postsMax,
        heapMegabytesMax: 64,
      },
      modules.timers,
    );
  }

  /**
   * @param isOpen whether the namespace is served
   * @throws TransportMissingError, PeerAddressError, IdentityFileError
   */
  static async start(config: WhisperConfig, modules: WhisperServiceModules, isOpen: boolean): Promise<WhisperService> {
    const service = new WhisperService(config, modules);
    const { address, peers } = config.shh;
    if (isOpen && (address !== null || peers.length > 0)) await service.#connect();
    service.#declareMetrics();
    return service;
  }

  /** Addresses of this node for Whisper peers, with its id; empty if it does not listen. */
  addresses(): readonly string[] {
    return this.#transport?.addresses() ?? [];
  }

  peers(): readonly string[] {
    return this.#peers?.ids() ?? [];
  }

  /** @throws PeerAddressError */
  async addPeer(address: string): Promise<void> {
    if (this.#transport === undefined) {
      throw new PeerAddressError("Whisper is not enabled: set shh.address or shh.peers", {
        address,
      });
    }
    await this.#transport.addPeer(address);
  }

  async close(): Promise<void> {
    this.#started?.timer.cancel();
    await this.#worker.close();
    await this.#transport?.close();
  }

  #whisper(): Whisper {
    this.#started ??= this.#begin();
    return this.#started.whisper;
  }

  #begin() {
    const { home, limits } = this.#config;
    const { failures, timers } = this.#modules;
    const whisper = new Whisper(
      {
        poolBytesMax: WHISPER_LIMITS.poolBytesMax,
        filtersMax: WHISPER_LIMITS.filtersMax,
        filterIdleMs: limits.filters.idleMs,
      },
      {
        identities: new Identities(
          { identitiesMax: WHISPER_LIMITS.identitiesMax, secret: nodeKey(home) },
          identityFile(whisperIdentitiesPath(home)),
        ),
        nowMs,
        newFilterId: randomId,
        nowSeconds: () => Math.floor(Date.now() / 1000),
        findWork: (seed, milliseconds) => {
          if (this.#worker.isFull()) throw new WhisperLimitError("too many posts are waiting");
          return this.#worker.call("find", { seed, milliseconds }, { timeoutMs: WORK_MS_MAX });
        },
        onFailure: (error) => failures.report("whisper", error),
      },
    );
    return { whisper, timer: timers.every(SWEEP_MS, "whisper", () => whisper.sweep()) };
  }

  /** Opens the transport to peers. */
  async #connect(): Promise<void> {
    const { shh, home } = this.#config;
    const { log, failures, timers, metrics, networkHosts } = this.#modules;
    const offences = metrics.counter({
      name: "shh_dropped_peers_total",
      help: "Dropped Whisper peers, by reason.",
      labels: ["reason"],
    });
    const { peersMax, banMs, peerBytesPerSecondMax: bytesPerSecondMax } = WHISPER_LIMITS;
    const peers = new PeerSet(
      { bytesPerSecondMax, peersMax, banMs },
      {
        whisper: this.#whisper(),
        nowMs,
        onOffence(id, reason) {
          offences.add(1, { reason });
          log.warn("whisper peer dropped", { id, reason });
        },
      },
    );
    this.#peers = peers;
    this.#transport = await startTransport(
      {
        listen: shh.address ?? undefined,
        peers: shh.peers,
        peersMax,
        privateKey: nodeKey(home),
        // Operators use the same Whisper port on all validators.
        networkHosts,
      },
      {
        peers,
        failures,
        timers,
        onDialFailed: (address, error) => log.debug("cannot reach a whisper peer", { address, error }),
      },
    );
    log.info("whisper", { addresses: this.#transport.addresses() });
  }

  #declareMetrics(): void {
    const { metrics } = this.#modules;
    const whisper = () => this.#started?.whisper;
    declareGauges(metrics, {
      shh_pool_bytes: ["Memory of Whisper messages.", () => whisper()?.pool.bytes ?? 0],
      shh_envelopes: ["Whisper messages that have not expired.", () => whisper()?.pool.size ?? 0],
      shh_filters: ["Filters of whisper messages.", () => whisper()?.filterCount ?? 0],
      shh_peers: ["Whisper peers.", () => this.#peers?.size ?? 0],
    });
  }
}

function nowMs(): number {
  return performance.now();
}

function identityFile(path: string): IdentityFile {
  return {
    read: () => (existsSync(path) ? readFileSync(path) : undefined),
    replace(content) {
      makeFolder(dirname(path));
      replaceFile(path, content, 0o600);
    },
  };
}
