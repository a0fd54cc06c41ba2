import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import { EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";
import { deferNothing } from "../../chain/store/background-work.ts";
import { openDiskBlockStore } from "../../chain/store/open-block-store.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { syncDirectory } from "../../store/storage/make-folder.ts";
import type { Application, ApplyResult, OfferResult, Snapshot } from "../application.ts";
import { APP_VERSION } from "../chain-start.ts";
import type { ConsensusData } from "../consensus-data.ts";
import {
  InvalidSnapshotError,
  ReceivedSnapshot,
  SnapshotTooLargeError,
  type WholeSnapshot,
} from "./received-snapshot.ts";
import { isChunkOf, isConsistent, SNAPSHOT_FORMAT } from "./snapshot-format.ts";

type RestoreOptions = {
  /** Where the store of the chain is to be; must not exist. */
  readonly directory: string;
  readonly config: ChainConfig;
  /** Bytes that a snapshot may have before compression: its state is in memory until it is whole. */
  readonly bytesMax: number;
};

/** What the network has decided besides the block that the app hash vouches for. */
export interface ConsensusDataSource {
  /** @throws NodeError where it cannot be known now */
  consensusDataOf(height: number): Promise<ConsensusData>;
}

type RestoreModules = { readonly source: ConsensusDataSource; readonly log: Logger };

/** The calls of an application whose state comes from peers. */
export type Restore = Pick<Application, "info" | "offerSnapshot"> & {
  /** @throws what the source of consensus data throws, and what the disk does; it needs another offer then */
  applySnapshotChunk(index: number, chunk: Uint8Array, sender: string): Promise<ApplyResult>;
  /** The block whose state was restored; undefined before. */
  restored(): RestoredBlock | undefined;
};

type RestoredBlock = { readonly height: number; readonly appHash: Hash };

/**
 * Restores a snapshot. The app hash, which CometBFT has verified, is the hash of the block: its header vouches for body, receipts and state,
 * and a snapshot that differs anywhere is rejected, with the peers that sent it. No hash vouches for the consensus data: it must be what the
 * source says, and is asked for with the first chunk, before any state is held in memory. What fails otherwise is our disk, and ends the run.
 * The store appears in `directory` whole or not at all; the state is held in memory until then.
 */
export class SnapshotRestore implements Restore {
  readonly #options: RestoreOptions;
  readonly #source: ConsensusDataSource;
  readonly #log: Logger;
  /** Those accepted so far. */
  #offers = 0;
  #received: ReceivedSnapshot | undefined;
  /** Peers that sent a chunk of it, which they do of snapshots that they offer. */
  readonly #senders = new Set<string>();
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
    const { directory, config, bytesMax } = this.#options;
    if (this.#restored !== undefined || existsSync(directory)) return "abort";
    if (snapshot.format !== SNAPSHOT_FORMAT) return "rejectFormat";
    if (!isConsistent(snapshot)) return "rejectSender";
    this.#log.info("restoring a snapshot", { height: snapshot.height, chunks: snapshot.chunks });
    this.#offers++;
    this.#received = new ReceivedSnapshot({ snapshot, appHash, config, bytesMax });
    this.#senders.clear();
    return "accept";
  }

  async applySnapshotChunk(index: number, chunk: Uint8Array, sender: string): Promise<ApplyResult> {
    const received = this.#received;
    if (received === undefined) return result("abort");
    const { snapshot, appHash } = received;
    if (index !== received.next || !isChunkOf(snapshot, index, chunk)) {
      this.#log.warn("chunk of a snapshot does not fit", { index, sender });
      return { result: "retry", refetchChunks: [received.next], rejectSenders: [sender] };
    }
    this.#senders.add(sender);
    const { height } = snapshot;
    let whole: WholeSnapshot | undefined;
    try {
      whole = received.add(chunk);
      if (index === 0) {
        // No chunk is taken meanwhile; but another run of CometBFT may offer, and replaces what this one has.
        this.#received = undefined;
        const offer = this.#offers;
        const data = await this.#source.consensusDataOf(height);
        if (this.#offers !== offer) return result("abort");
        received.assertConsensusData(data);
        this.#received = received;
      }
    } catch (error) {
      if (!(error instanceof SnapshotTooLargeError || error instanceof InvalidSnapshotError)) throw error;
      this.#received = undefined;
      this.#log.warn("snapshot rejected", { height, error });
      if (error instanceof SnapshotTooLargeError) return result("rejectSnapshot");
      return { ...result("rejectSnapshot"), rejectSenders: [...this.#senders] };
    }
    if (whole !== undefined) {
      this.#received = undefined;
      store(whole, this.#options.directory);
      this.#restored = { height, appHash };
    }
    return result("accept");
  }
}

function result(kind: ApplyResult["result"]): ApplyResult {
  return { result: kind, refetchChunks: [], rejectSenders: [] };
}

/** Makes the store at `directory`, which begins with the block of the snapshot. */
function store({ record, nodes }: WholeSnapshot, directory: string): void {
  const unfinished = `${directory}.restoring`;
  rmSync(unfinished, { recursive: true, force: true });
  try {
    const target = openDiskBlockStore({ defer: deferNothing, directory: unfinished, createTrie: createStateTrie });
    try {
      target.append(record, nodes);
    } finally {
      target.close();
    }
    renameSync(unfinished, directory);
    syncDirectory(dirname(directory));
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
}
