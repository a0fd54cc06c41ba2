import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bytesToHex, hexToBytes } from "../../base/primitives/hex.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Metrics } from "../../base/telemetry/metrics.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";
import type { Chain } from "../../chain/chain.ts";
import { type Checkpoint, checkpointHash } from "../../heritage/les/checkpoints/checkpoint.ts";
import { CheckpointIndexer, type CheckpointSource } from "../../heritage/les/checkpoints/checkpoint-indexer.ts";
import { CheckpointLayoutError, NoCheckpointError } from "../../heritage/les/errors.ts";
import {
  decodeOracleCheckpoint,
  GET_LATEST_CHECKPOINT,
  setCheckpointData,
  voteDigest,
} from "../../heritage/les/oracle.ts";
import type { CheckpointReads } from "../../heritage/les/port.ts";
import { type Kv, KvCorruptionError, KvDamagedError } from "../../store/storage/kv.ts";
import { openLmdbKv } from "../../store/storage/lmdb/lmdb-kv.ts";
import type { InProcessProvider } from "../adapters/provider-types.ts";
import type { Config } from "../config/config.ts";
import { dataPath } from "../config/home.ts";
import type { AccountSigner } from "../keystore/accounts.ts";

/** Work in one turn of the event loop; a step that begins before its end takes about 3 ms more. */
const SLICE_MS = 3;
/** Pause between slices: checkpoints use at most half of the thread's time. */
const PAUSE_MS = 6;

type CheckpointModules = {
  readonly chain: Chain;
  readonly log: Logger;
  readonly timers: Timers;
  readonly metrics: Metrics;
  /** Called with each new checkpoint. */
  readonly onCheckpoint: (checkpoint: Checkpoint) => void;
};

/**
 * Computes the checkpoints of light clients while the node is idle. Its store is opened once the chain is long enough for a first section. A
 * store that is damaged or has another section size is deleted, since it can be recomputed.
 */
export class CheckpointService {
  readonly port: CheckpointReads;
  readonly #limits: Config["limits"]["checkpoints"];
  readonly #directory: string;
  readonly #modules: CheckpointModules;
  readonly #isOn: boolean;
  readonly #source: CheckpointSource;
  readonly #unsubscribe: readonly (() => void)[];
  #opened: { readonly kv: Kv; readonly indexer: CheckpointIndexer } | undefined;
  #timer: Timer | undefined;
  #hasFailed = false;

  /** @param isOn false: computes nothing */
  constructor({ les, home, limits }: Config, modules: CheckpointModules, isOn: boolean) {
    const { chain, metrics } = modules;
    this.#limits = limits.checkpoints;
    this.#directory = join(dataPath(home), "checkpoints");
    this.#modules = modules;
    this.#isOn = isOn;
    this.#source = {
      head: () => chain.head().block.header.number,
      headerAt: chain.header,
      hashAt: chain.blockHash,
    };
    this.port = {
      latestCheckpoint: () => this.#ready().latest(),
      checkpoint: ({ index }) => this.#ready().checkpoint(index),
      proveHash: ({ index, number }) => this.#ready().proveHash(index, number),
      checkpointOracle: () => les.checkpointOracle ?? undefined,
    };
    this.#unsubscribe = [
      chain.subscribe(() => {
        if (this.#timer !== undefined) return;
        if (this.#opened?.indexer.needsWork() ?? this.#isDue()) this.#schedule();
      }),
      chain.onRollback(() => {
        // A closed store compares its sections with the chain when it opens.
        this.#opened?.indexer.rollback(this.#source.head());
      }),
    ];
    if (this.#isDue()) this.#schedule();
    metrics.gaugeOf(
      { name: "les_checkpoints", help: "Computed checkpoints of light clients." },
      () => this.#opened?.indexer.sections ?? 0,
    );
  }

  close(): void {
    this.#timer?.cancel();
    for (const end of this.#unsubscribe) end();
    this.#opened?.kv.close();
    this.#opened = undefined;
    this.#hasFailed = true;
  }

  #isDue(): boolean {
    return CheckpointIndexer.dueSections(this.#limits, this.#source.head()) > 0;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#hasFailed || !this.#isOn) return;
    this.#timer = this.#modules.timers.after(PAUSE_MS, "checkpoints", () => this.#workForSlice(), { keepsAlive: true });
  }

  /** @throws NoCheckpointError */
  #ready(): CheckpointIndexer {
    const indexer = this.#hasFailed ? this.#opened?.indexer : this.#indexer();
    if (indexer === undefined) throw new NoCheckpointError();
    return indexer;
  }

  #indexer(): CheckpointIndexer | undefined {
    const isWanted = this.#isOn && (this.#isDue() || existsSync(this.#directory));
    if (this.#opened === undefined && isWanted) this.#openOrRepair();
    return this.#opened?.indexer;
  }

  #openOrRepair(): void {
    try {
      this.#open();
    } catch (error) {
      if (!isUseless(error)) throw error;
      this.#modules.log.warn("recomputing all checkpoints", { error });
      this.#discard();
      this.#open();
    }
  }

  #open(): void {
    const kv = openLmdbKv(this.#directory);
    try {
      const indexer = new CheckpointIndexer(this.#limits, { kv, source: this.#source });
      this.#opened = { kv, indexer };
    } catch (error) {
      kv.close();
      throw error;
    }
  }

  /** Recomputes all checkpoints after the next opening. */
  #discard(): void {
    this.#opened?.kv.close();
    this.#opened = undefined;
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #workForSlice(): void {
    this.#timer = undefined;
    const { timers } = this.#modules;
    const end = timers.now() + SLICE_MS;
    try {
      const indexer = this.#indexer();
      if (indexer === undefined) return;
      const before = indexer.sections;
      let isMore = true;
      while (isMore && timers.now() < end) isMore = indexer.step();
      if (indexer.sections > before) {
        const latest = indexer.latest();
        const { sectionIndex, chtRoot, bloomRoot } = latest;
        const { log, onCheckpoint } = this.#modules;
        log.info("checkpoint computed", { section: sectionIndex, chtRoot, bloomRoot });
        onCheckpoint(latest);
      }
      if (isMore) this.#schedule();
    } catch (error) {
      // It would fail the same way at every block.
      this.#hasFailed = true;
      if (isUseless(error)) this.#discard();
      throw error;
    }
  }
}

/** The store is unusable, and everything in it can be recomputed. */
function isUseless(error: unknown): boolean {
  return (
    error instanceof CheckpointLayoutError || error instanceof KvDamagedError || error instanceof KvCorruptionError
  );
}

type CheckpointSignerModules = {
  readonly chain: Chain;
  readonly keys: Pick<AccountSigner, "sign">;
  readonly provider: Pick<InProcessProvider, "request">;
  readonly log: Logger;
};

/** A vote takes about 150,000 gas; an estimate on the head would miss the block in which the vote counts. */
const VOTE_GAS = "0x61a80";

/**
 * Votes for a new checkpoint in the oracle contract with the account of `les.checkpoint-signer`, an unlocked admin of the contract. Each
 * validator's node votes, so the contract has the checkpoint once enough of them have computed the same one.
 */
export async function voteForCheckpoint(
  { les }: Pick<Config, "les">,
  checkpoint: Checkpoint,
  { chain, keys, provider, log }: CheckpointSignerModules,
): Promise<void> {
  const { checkpointOracle: oracle, checkpointSigner: signer } = les;
  if (oracle === null || signer === null) return;
  const { sectionIndex } = checkpoint;
  const answer = await provider.request({
    method: "eth_call",
    params: [{ to: oracle, data: bytesToHex(GET_LATEST_CHECKPOINT) }, "latest"],
  });
  const known = decodeOracleCheckpoint(hexToBytes(answer as string));
  if (known === undefined) {
    log.warn("no checkpoint oracle at the configured address", { oracle });
    return;
  }
  if (known.height > 0 && known.sectionIndex >= sectionIndex) return;
  const hash = checkpointHash(checkpoint);
  const signature = await keys.sign(signer, voteDigest(oracle, sectionIndex, hash));
  // The parent: a call on the head cannot see the head's own hash.
  const { number, parentHash: recentHash } = chain.head().block.header;
  const data = setCheckpointData({
    recentNumber: number - 1,
    recentHash,
    hash,
    sectionIndex,
    signature,
  });
  const transaction = await provider.request({
    method: "eth_sendTransaction",
    params: [{ from: signer, to: oracle, data: bytesToHex(data), gas: VOTE_GAS }],
  });
  log.info("voted for a checkpoint", { section: sectionIndex, oracle, transaction });
}
