import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../config/config.ts";
import { whisperIdentitiesPath } from "../config/home.ts";
import { nodeKey } from "../config/secrets.ts";
import type { WhisperWorkInput } from "../node/workers/find-whisper-work.ts";
import { TaskThread } from "../node/workers/task-thread.ts";
import { randomId } from "../rpc/methods/filters/random-id.ts";
import { PeerAddressError, WhisperLimitError } from "../shh/errors.ts";
import { Identities, type IdentityFile } from "../shh/identities.ts";
import { startTransport, type WhisperTransport } from "../shh/peers/libp2p-transport.ts";
import { PeerSet } from "../shh/peers/peer-set.ts";
import type { ShhPort } from "../shh/port.ts";
import type { Work } from "../shh/proof-of-work.ts";
import { WHISPER_LIMITS, Whisper } from "../shh/whisper.ts";
import { makeFolder } from "../storage/make-folder.ts";
import { replaceFile } from "../storage/replace-file.ts";
import type { Failures } from "../telemetry/failures.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** The historic nodes' interval. */
const SWEEP_MS = 800;
/** Of the work for one post, which takes ten seconds at most, and the start of the thread. */
const WORK_LIMITS = { timeoutMs: 30_000, heapMegabytesMax: 64 };

export type WhisperService = {
  readonly port: ShhPort;
  /** Addresses of this node for whisper peers, with its id; none when it does not listen. */
  addresses(): readonly string[];
  /** Ids of the peers that are connected. */
  peers(): readonly string[];
  /** @throws PeerAddressError */
  addPeer(address: string): Promise<void>;
  close(): Promise<void>;
};

type WhisperServiceModules = {
  readonly log: Logger;
  readonly failures: Failures;
  readonly metrics: Metrics;
  /** Hosts of the chain's peers: none where the node is alone. */
  readonly networkHosts: () => readonly string[];
};

/**
 * Whisper in this node. Nothing of it is read or started before its first use, unless it has peers or listens for them.
 * @param isOpen the namespace is served
 * @throws TransportMissingError, PeerAddressError, IdentityFileError
 */
export async function startWhisperService(
  config: Pick<Config, "home" | "shh" | "limits">,
  modules: WhisperServiceModules,
  isOpen: boolean,
): Promise<WhisperService> {
  const { shh, home, limits } = config;
  const { log, failures, metrics } = modules;
  const worker = new TaskThread<WhisperWorkInput, Work>("find-whisper-work", {
    ...WORK_LIMITS,
    waitingMax: WHISPER_LIMITS.postsMax,
  });
  const nowMs = () => performance.now();
  let started: { readonly whisper: Whisper; readonly timer: NodeJS.Timeout } | undefined;

  function whisper(): Whisper {
    started ??= start();
    return started.whisper;
  }

  function start() {
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
        findWork(seed, milliseconds) {
          if (worker.isFull()) throw new WhisperLimitError("too many posts are waiting");
          return worker.run({ seed, milliseconds });
        },
        onFailure: (error) => failures.report("whisper", error),
      },
    );
    const timer = setInterval(
      failures.guard("whisper", () => whisper.sweep()),
      SWEEP_MS,
    );
    timer.unref();
    return { whisper, timer };
  }

  let peers: PeerSet | undefined;
  let transport: WhisperTransport | undefined;
  if (isOpen && (shh.address !== null || shh.peers.length > 0)) {
    const offences = metrics.counter({
      name: "shh_dropped_peers_total",
      help: "Whisper peers that were dropped, by reason.",
      labels: ["reason"],
    });
    peers = new PeerSet(
      {
        bytesPerSecondMax: WHISPER_LIMITS.peerBytesPerSecondMax,
        peersMax: WHISPER_LIMITS.peersMax,
        banMs: WHISPER_LIMITS.banMs,
      },
      {
        whisper: whisper(),
        nowMs,
        onOffence(id, reason) {
          offences.add(1, { reason });
          log.warn("whisper peer dropped", { id, reason });
        },
      },
    );
    transport = await startTransport(
      {
        listen: shh.address ?? undefined,
        peers: shh.peers,
        peersMax: WHISPER_LIMITS.peersMax,
        privateKey: nodeKey(home),
        // An operator who lets peers reach whisper does so at one port on all validators.
        networkHosts: modules.networkHosts,
      },
      {
        peers,
        failures,
        onDialFailed: (address, error) => log.debug("whisper peer not reached", { address, error }),
      },
    );
    log.info("whisper", { addresses: transport.addresses() });
  }
  metrics.gaugeOf({ name: "shh_pool_bytes", help: "Memory of whisper messages." }, () => {
    return started?.whisper.pool.bytes ?? 0;
  });
  metrics.gaugeOf(
    { name: "shh_envelopes", help: "Whisper messages that have not expired." },
    () => started?.whisper.pool.size ?? 0,
  );
  metrics.gaugeOf(
    { name: "shh_filters", help: "Filters of whisper messages." },
    () => started?.whisper.filterCount ?? 0,
  );
  metrics.gaugeOf({ name: "shh_peers", help: "Whisper peers." }, () => peers?.size ?? 0);

  return {
    port: {
      newIdentity: () => whisper().newIdentity(),
      hasIdentity: (identity) => whisper().hasIdentity(identity),
      post: async (post) => whisper().post(post),
      newGroup: async (from, members) => whisper().newGroup(from, members),
      addToGroup: async (group, who) => whisper().addToGroup(group, who),
      newMessageFilter: (criteria) => whisper().newFilter(criteria),
      uninstallMessageFilter: (id) => whisper().uninstallFilter(id),
      messageFilterChanges: (id) => whisper().filterChanges(id),
      messages: (id) => whisper().messages(id),
    },
    addresses: () => transport?.addresses() ?? [],
    peers: () => peers?.ids() ?? [],
    async addPeer(address) {
      if (transport === undefined) {
        throw new PeerAddressError("whisper has no transport: set shh.address or shh.peers", {
          address,
        });
      }
      await transport.addPeer(address);
    },
    async close() {
      clearInterval(started?.timer);
      await worker.close();
      await transport?.close();
    },
  };
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
