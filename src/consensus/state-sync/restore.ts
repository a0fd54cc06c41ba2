import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import { EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";
import type { BlockRecord } from "../../chain/block-store.ts";
import { encodeBlockRecord } from "../../chain/records/block-record.ts";
import { deferNothing } from "../../chain/store/background-work.ts";
import { openDiskBlockStore } from "../../chain/store/open-block-store.ts";
import { LOG_FOLDER } from "../../chain/store/replace-log.ts";
import { newestStateFile, StateFiles, type StateFileWriter } from "../../chain/store/retention/state-file.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { openBlockLog } from "../../store/storage/log/block-log.ts";
import { openLogDirectory } from "../../store/storage/log/log-file.ts";
import { syncDirectory } from "../../store/storage/make-folder.ts";
import type { Application, ApplyResult, OfferResult, Snapshot } from "../application.ts";
import { APP_VERSION } from "../chain-start.ts";
import type { ConsensusData } from "../consensus-data.ts";
import { InvalidSnapshotError, type ReceivedChunk, ReceivedSnapshot } from "./received-snapshot.ts";
import { isChunkOf, isConsistent, SNAPSHOT_FORMAT } from "./snapshot-format.ts";

type RestoreOptions = {
  /** Directory of the chain's store; must not exist. */
  readonly directory: string;
  readonly config: ChainConfig;
};

/** Decisions of the network that the app hash does not cover. */
export interface ConsensusDataSource {
  /** @throws NodeError if it cannot be known now */
  consensusDataOf(height: number): Promise<ConsensusData>;
}

type RestoreModules = { readonly source: ConsensusDataSource; readonly log: Logger };

/** The application calls of a node that restores a snapshot. */
export type Restore = Pick<Application, "info" | "offerSnapshot"> & {
  /** @throws errors of the source of consensus data and of the disk; another offer is needed then */
  applySnapshotChunk(index: number, chunk: Uint8Array, sender: string): Promise<ApplyResult>;
  /** The block whose state was restored; undefined until then. */
  restored(): RestoredBlock | undefined;
};

type RestoredBlock = { readonly height: number; readonly appHash: Hash };

/**
 * Restores a snapshot. The app hash, which CometBFT has verified, is the block hash: the header commits to body, receipts and state, and a
 * snapshot with any difference is rejected, with the peers that sent it. No hash covers the consensus data: it must match the source, which is
 * asked with the first chunk. Any other failure is a disk error, and ends the run.
 *
 * Each part of the state is written to the new store's state file as soon as it is proven, so a peer's forgery costs neither memory nor disk.
 * The store appears in `directory` atomically. Building the index takes longest; if the process dies during that, it resumes there with the same
 * block: CometBFT fetches all chunks again, and those of the state are skipped.
 */
export class SnapshotRestore implements Restore {
  readonly #options: RestoreOptions;
  readonly #source: ConsensusDataSource;
  readonly #log: Logger;
  /** Number of accepted offers. */
  #offers = 0;
  #received: ReceivedSnapshot | undefined;
  /** Peers that sent a chunk, which means that they offer the snapshot. */
  readonly #senders = new Set<string>();
  /** Store of the snapshot in progress, after its block. */
  #store: UnfinishedStore | undefined;
  #restored: RestoredBlock | undefined;

  constructor(options: RestoreOptions, { source, log }: RestoreModules) {
    this.#options = options;
    this.#source = source;
    this.#log = log;
  }

  restored(): RestoredBlock | undefined {
    return this.#restored;
  }

  info() {
    const { height = 0, appHash = EMPTY_TRIE_ROOT } = this.#restored ?? {};
    return { height, appHash, appVersion: APP_VERSION };
  }

  offerSnapshot(snapshot: Snapshot, appHash: Hash): OfferResult {
    const { directory, config } = this.#options;
    if (this.#restored !== undefined || existsSync(directory)) return "abort";
    if (snapshot.format !== SNAPSHOT_FORMAT) return "rejectFormat";
    if (!isConsistent(snapshot)) return "rejectSender";
    this.#log.info("restoring a snapshot", { height: snapshot.height, chunks: snapshot.chunks });
    this.#offers++;
    this.#received = new ReceivedSnapshot({ snapshot, appHash, config });
    this.#store?.abandon();
    this.#store = UnfinishedStore.whole(directory, appHash);
    if (this.#store !== undefined) this.#log.info("the state is already on disk; its parts are not read again");
    this.#senders.clear();
    return "accept";
  }

  async applySnapshotChunk(index: number, chunk: Uint8Array, sender: string): Promise<ApplyResult> {
    const received = this.#received;
    if (received === undefined) return result("abort");
    const { snapshot, appHash } = received;
    if (index !== received.next || !isChunkOf(snapshot, index, chunk)) {
      this.#log.warn("invalid snapshot chunk", { index, sender });
      return { result: "retry", refetchChunks: [received.next], rejectSenders: [sender] };
    }
    this.#senders.add(sender);
    const { height } = snapshot;
    let content: ReceivedChunk;
    try {
      content = index > 0 && this.#store?.isWhole ? received.skip() : received.add(chunk);
      if (content.kind === "block") {
        // Accepts no chunk meanwhile. Another run of CometBFT may make an offer, which replaces this one.
        this.#received = undefined;
        const offer = this.#offers;
        const data = await this.#source.consensusDataOf(height);
        if (this.#offers !== offer) return result("abort");
        received.assertConsensusData(data);
        this.#received = received;
      }
    } catch (error) {
      if (!(error instanceof InvalidSnapshotError)) throw error;
      this.#received = undefined;
      this.#store?.abandon();
      this.#store = undefined;
      this.#log.warn("snapshot rejected", { height, error });
      return { ...result("rejectSnapshot"), rejectSenders: [...this.#senders] };
    }
    if (content.kind === "part") {
      this.#store ??= new UnfinishedStore(this.#options.directory, received.block);
      this.#store.addPart(content.changes);
    }
    if (received.isWhole) {
      this.#received = undefined;
      this.#log.info("the snapshot is complete; building its index", { height });
      this.#store!.finish();
      this.#store = undefined;
      this.#restored = { height, appHash };
    }
    return result("accept");
  }
}

function result(kind: ApplyResult["result"]): ApplyResult {
  return { result: kind, refetchChunks: [], rejectSenders: [] };
}

/** Parts wait in memory up to this size, so that a short forged snapshot costs no files. */
const WAITING_BYTES = 4 << 20;

/** The store at `directory` while it is built from the block of a snapshot: a log of that block, and a file with its state. */
class UnfinishedStore {
  readonly #directory: string;
  readonly #unfinished: string;
  readonly #record: BlockRecord | undefined;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #state: StateFileWriter | undefined;

  /** @param record of the block; undefined if the state is on disk already */
  constructor(directory: string, record: BlockRecord | undefined) {
    this.#directory = directory;
    this.#unfinished = `${directory}.restoring`;
    this.#record = record;
  }

  /** The leftover of a process that died with the state of this block on disk. */
  static whole(directory: string, blockHash: Hash): UnfinishedStore | undefined {
    const store = new UnfinishedStore(directory, undefined);
    const folder = join(store.#unfinished, LOG_FOLDER);
    return existsSync(folder) && newestStateFile(openLogDirectory(folder))?.hash === blockHash ? store : undefined;
  }

  get isWhole(): boolean {
    return this.#record === undefined;
  }

  addPart(changes: Uint8Array): void {
    this.#waiting.push(changes);
    this.#waitingBytes += changes.length;
    if (this.#waitingBytes >= WAITING_BYTES) this.#write().sync();
  }

  /** Called after the last part. Returns once the complete store is durable. */
  finish(): void {
    if (!this.isWhole) {
      const state = this.#write();
      state.sync();
      state.finish();
    }
    openDiskBlockStore({ defer: deferNothing, directory: this.#unfinished, createTrie: createStateTrie }).close();
    renameSync(this.#unfinished, this.#directory);
    syncDirectory(dirname(this.#directory));
  }

  /** Removes it, unless the state is complete: that stays correct whatever was sent since. */
  abandon(): void {
    if (this.isWhole) return;
    this.#state?.abandon();
    rmSync(this.#unfinished, { recursive: true, force: true });
  }

  #write(): StateFileWriter {
    this.#state ??= this.#begin();
    for (const changes of this.#waiting) this.#state.addPart(changes);
    this.#waiting = [];
    this.#waitingBytes = 0;
    return this.#state;
  }

  #begin(): StateFileWriter {
    rmSync(this.#unfinished, { recursive: true, force: true });
    const folder = openLogDirectory(join(this.#unfinished, LOG_FOLDER));
    const log = openBlockLog({ directory: folder });
    const record = this.#record!;
    try {
      log.append(encodeBlockRecord(record, new Set()));
    } finally {
      log.close();
    }
    const { header, hash } = record.block;
    return new StateFiles(folder).create(header.number, hash);
  }
}
