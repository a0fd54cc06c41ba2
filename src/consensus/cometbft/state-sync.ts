import { NodeError } from "../../base/errors.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { bytesToHex, type Hex } from "../../base/primitives/hex.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";
import type { ApplyResult, OfferResult, Snapshot } from "../application.ts";
import { type ConsensusData, decodeProposerData, encodeConsensusData } from "../consensus-data.ts";
import type { ConsensusDataSource, Restore } from "../state-sync/restore.ts";
import type { StartingSet } from "../voting/starting-set.ts";
import { createRestoreHandlers } from "./abci/handlers.ts";
import { CALLS, type CallName } from "./abci/messages.ts";
import { type AbciHandlers, type AbciServer, listenAbci } from "./abci/server.ts";
import type { PeerFilter } from "./permissions/node-permissions.ts";
import type { EngineFault, EngineProcess } from "./process/engine-process.ts";
import { EngineRpcError } from "./rpc/answers.ts";
import { engineBlockOf } from "./rpc/block.ts";
import { callEngine, type EngineRpcAddress } from "./rpc/client.ts";

/** No state sync server returned the block's consensus data, or their answers disagree. */
class UnknownConsensusDataError extends NodeError {
  readonly code = "ENGINE_CONSENSUS_DATA_UNKNOWN";
}

type StateSyncServersOptions = {
  readonly servers: readonly EngineRpcAddress[];
  /** From CometBFT's genesis. */
  readonly chainId: string;
  /** From the same genesis; with a vote it is part of the consensus data. */
  readonly startingSet: StartingSet;
  /** Whether the chain's genesis has `jail`. */
  readonly jail: boolean;
  /** Time limit of a server's whole answer; default: 15 s. */
  readonly timeoutMs?: number;
};

/** Enough for a block of a few MiB through a tunnel. CometBFT's snapshot waits for it without a limit. */
const TIMEOUT_MS = 15_000;
/** A block of 8 MiB in base64, and the signatures of 10,000 validators. */
const ANSWER_BYTES_MAX = 16 << 20;

/**
 * The servers of `cometbft.state-sync-servers` as the source of a block's consensus data, which no hash in the block covers.
 *
 * CometBFT's light client verifies the signatures of this header, but keeps it in memory and gives an application only the app hash of the next
 * one. Its RPC lacks the blocks before the one after the snapshot. So the servers are asked again, and trusted if all that answer agree: the
 * operator chose them, and CometBFT also stops if they contradict each other.
 */
export class StateSyncServers implements ConsensusDataSource {
  readonly #options: StateSyncServersOptions;
  readonly #log: Logger;
  readonly #timers: Pick<Timers, "after">;

  constructor(
    options: StateSyncServersOptions,
    { log, timers }: { readonly log: Logger; readonly timers: Pick<Timers, "after"> },
  ) {
    this.#options = options;
    this.#log = log;
    this.#timers = timers;
  }

  /** @throws UnknownConsensusDataError */
  async consensusDataOf(height: number): Promise<ConsensusData> {
    const { servers } = this.#options;
    const answers = await Promise.all(servers.map((server) => this.#ask(server, height)));
    const different = new Map<Hex, ConsensusData>();
    for (const data of answers) {
      if (data !== undefined) different.set(bytesToHex(encodeConsensusData(data)), data);
    }
    const [data, other] = different.values();
    if (data === undefined) {
      throw new UnknownConsensusDataError("no state sync server has the block", { height });
    }
    if (other !== undefined) {
      throw new UnknownConsensusDataError("the state sync servers contradict each other", {
        height,
        answers: [...different.values()].map(({ cast, ...fields }) => fields),
      });
    }
    return data;
  }

  /** undefined if the server has no usable answer. */
  async #ask(server: EngineRpcAddress, height: number): Promise<ConsensusData | undefined> {
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    try {
      const call = { method: "block", params: { height: String(height) } };
      const answer = await callEngine(server, call, { timeoutMs, bytesMax: ANSWER_BYTES_MAX }, this.#timers);
      return this.#decode(answer, height);
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      this.#log.warn("ignoring a state sync server", { server: nameOf(server), height, error });
      return undefined;
    }
  }

  /** @throws EngineRpcError, InvalidProposerDataError */
  #decode(answer: unknown, height: number): ConsensusData {
    const { chainId, startingSet, jail } = this.#options;
    const block = engineBlockOf(answer);
    if (block.chainId !== chainId || block.height !== height) {
      throw new EngineRpcError("CometBFT returned a different block than requested", {
        height,
      });
    }
    const { vote, parameterVote } = decodeProposerData(block.txs[0]);
    const offences = jail ? block.offences : [];
    const hasCast = vote !== undefined || parameterVote !== undefined || offences.length > 0;
    return {
      consensusHash: block.hash,
      proposer: block.proposer,
      nanos: block.time.nanos,
      parentRound: block.parentRound,
      ...(hasCast && { cast: { vote, parameterVote, offences, startingSet } }),
    };
  }
}

/** Without user and password. */
function nameOf(server: EngineRpcAddress): string {
  return "url" in server ? server.url.host : server.socketPath;
}

/** No snapshot could be restored. */
class StateSyncError extends NodeError {
  readonly code = "ENGINE_STATE_SYNC";
}

type StateSyncOptions = {
  readonly abciSocket: string;
  readonly version: string;
  readonly peers: PeerFilter;
  /** Runs of CometBFT before giving up. */
  readonly attemptsMax?: number;
  /** Pause before the second run; doubles before each further one. */
  readonly firstPauseMs?: number;
  /** Time without a chunk or another snapshot, after the first offer, before CometBFT is restarted. */
  readonly stallMs?: number;
};

type StateSyncModules = {
  readonly restore: Restore;
  /** Starts CometBFT with state sync enabled; `onFault` is called for faults in its log. */
  readonly start: (onFault: (fault: EngineFault) => void) => EngineProcess;
  readonly log: Logger;
  readonly timers: Timers;
};

/** CometBFT with its socket after state sync: it waits for the application of the restored chain. */
export type SyncedEngine = {
  /** Hands over: `handlers` answer the waiting and all further calls. */
  attach(options: {
    readonly handlers: AbciHandlers;
    readonly onEngineLost: () => void;
    readonly onFailure: (error: unknown, call: string) => void;
  }): AbciServer;
  /** The running process, whose faults go to `onFault`, including one that its log has already shown. */
  adopt(onFault: (fault: EngineFault) => void): EngineProcess;
  /** Ends both, if nothing was handed over. */
  close(): Promise<void>;
};

const ATTEMPTS_MAX = 5;
const FIRST_PAUSE_MS = 1_000;
const STOP_GRACE_MS = 5_000;
/**
 * CometBFT requests a chunk every 10 s and snapshots every 15 s. If no usable peer is left, it waits 2 minutes for a chunk, in which peers drop
 * their offers, and forever for another snapshot: a rejected peer counts again only after a restart.
 */
const STALL_MS = 30_000;

/**
 * Runs CometBFT until a peer's snapshot is restored. CometBFT continues at once with the next block and cannot be restarted before it has that:
 * its call waits until `attach`.
 * @throws StateSyncError
 */
export async function syncState(
  options: StateSyncOptions,
  { restore, start, log, timers }: StateSyncModules,
): Promise<SyncedEngine> {
  const { attemptsMax = ATTEMPTS_MAX, firstPauseMs = FIRST_PAUSE_MS, stallMs = STALL_MS } = options;
  let onEngineLost = () => {};
  let onFailure = (error: unknown, call: string) => log.warn("state sync failed", { call, error });
  const watched = new WatchedRestore(restore, stallMs, timers);
  const waiting = switchableHandlers(createRestoreHandlers(options, watched));
  const server = await listenAbci(
    {
      path: options.abciSocket,
      onEngineLost: () => onEngineLost(),
      onFailure: (error, call) => onFailure(error, call),
    },
    waiting.handlers,
  );
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    let fault: EngineFault | undefined;
    let onFault = (seen: EngineFault) => {
      fault = seen;
      if (seen.kind === "stateSyncFailed") void run.stop(STOP_GRACE_MS);
    };
    const done = new Promise<"restored">((resolve) => {
      watched.onRestored = () => resolve("restored");
    });
    const run: EngineProcess = start((seen) => onFault(seen));
    watched.onStall = () => {
      log.warn("no peer is sending snapshot chunks; asking all of them again", { stallMs });
      void run.stop(STOP_GRACE_MS);
    };
    const exit = await Promise.race([done, run.exited]);
    if (exit === "restored") {
      return {
        attach(next) {
          ({ onEngineLost, onFailure } = next);
          waiting.attach(next.handlers);
          return server;
        },
        adopt(next) {
          onFault = next;
          const seen = fault;
          // Lets the new owner get the process first.
          if (seen !== undefined) timers.soon("fault after state sync", () => next(seen));
          return run;
        },
        async close() {
          await run.stop(STOP_GRACE_MS);
          await server.close();
        },
      };
    }
    watched.endWatch();
    log.warn("restarting state sync", { attempt, fault, words: exit.words });
    if (attempt < attemptsMax) await timers.sleep(firstPauseMs * 2 ** (attempt - 1));
  }
  await server.close();
  throw new StateSyncError(
    "could not restore a snapshot from the network; remove cometbft.state-sync-servers to fetch all blocks instead",
  );
}

/** A restore that reports its progress. */
class WatchedRestore implements Restore {
  /** Called when CometBFT asks for the restored height: its last call before blocks. */
  onRestored = () => {};
  /** Called if a snapshot was begun, and neither a chunk nor another snapshot has arrived for `stallMs`. */
  onStall = () => {};
  readonly #inner: Restore;
  readonly #stallMs: number;
  readonly #timers: Timers;
  #watch: Timer | undefined;

  constructor(inner: Restore, stallMs: number, timers: Timers) {
    this.#timers = timers;
    this.#inner = inner;
    this.#stallMs = stallMs;
  }

  restored() {
    return this.#inner.restored();
  }

  info() {
    if (this.restored()) this.onRestored();
    return this.#inner.info();
  }

  offerSnapshot(snapshot: Snapshot, appHash: Hash): OfferResult {
    const result = this.#inner.offerSnapshot(snapshot, appHash);
    this.#waitForMore();
    return result;
  }

  async applySnapshotChunk(index: number, chunk: Uint8Array, sender: string): Promise<ApplyResult> {
    this.endWatch();
    const applied = await this.#inner.applySnapshotChunk(index, chunk, sender);
    if (!this.restored()) this.#waitForMore();
    return applied;
  }

  endWatch(): void {
    this.#watch?.cancel();
  }

  #waitForMore(): void {
    this.endWatch();
    this.#watch = this.#timers.after(this.#stallMs, "stall of state sync", () => this.onStall(), { keepsAlive: true });
  }
}

type Handle = (fields: never) => object | Promise<object>;
type HandledCall = keyof AbciHandlers;

const HANDLED = (Object.keys(CALLS) as CallName[]).filter(
  (name): name is HandledCall => name !== "echo" && name !== "flush",
);

/** `own` answers the calls that need no chain; all other calls wait until `attach`. */
function switchableHandlers(own: Partial<AbciHandlers>) {
  let attached: AbciHandlers | undefined;
  let resolve: (handlers: AbciHandlers) => void = () => {};
  const whenAttached = new Promise<AbciHandlers>((resolved) => {
    resolve = resolved;
  });
  const handle =
    (name: HandledCall): Handle =>
    (fields) => {
      const now = attached?.[name] ?? own[name];
      if (now) return (now as Handle)(fields);
      return whenAttached.then((handlers) => (handlers[name] as Handle)(fields));
    };
  return {
    handlers: Object.fromEntries(HANDLED.map((name) => [name, handle(name)])) as AbciHandlers,
    attach(handlers: AbciHandlers) {
      attached = handlers;
      resolve(handlers);
    },
  };
}
