import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { openDiskBlockStore } from "../../chain/store/open-block-store.ts";
import type { ChainConfig } from "../../params/chain-config.ts";
import type { Hash } from "../../primitives/hash.ts";
import { createStateTrie } from "../../state/merkle-state-trie.ts";
import { syncDirectory } from "../../storage/log-file.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { EMPTY_TRIE_ROOT } from "../../types/constants.ts";
import type { Application, ApplyResult, OfferResult } from "../application.ts";
import { APP_VERSION } from "../chain-start.ts";
import {
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

/** The calls of an application whose state comes from peers. */
export type Restore = Pick<Application, "info" | "offerSnapshot" | "applySnapshotChunk"> & {
  /** The block whose state was restored; undefined before. */
  restored(): { readonly height: number; readonly appHash: Hash } | undefined;
};

/**
 * Restores a snapshot. The app hash, which CometBFT has verified, is the hash of the block: its header vouches for body, receipts and state,
 * and a snapshot that differs anywhere is rejected, with the peers that sent it. What fails otherwise is our disk, and ends the run. The store
 * appears in `directory` whole or not at all; the state is held in memory until then.
 */
export function createRestore(
  { directory, config, bytesMax }: RestoreOptions,
  log: Logger,
): Restore {
  let received: ReceivedSnapshot | undefined;
  /** Peers that sent a chunk of it, which they do of snapshots that they offer. */
  const senders = new Set<string>();
  let restored: { readonly height: number; readonly appHash: Hash } | undefined;

  return {
    restored: () => restored,
    info: () => ({
      height: restored?.height ?? 0,
      appHash: restored?.appHash ?? EMPTY_TRIE_ROOT,
      appVersion: APP_VERSION,
    }),
    offerSnapshot(snapshot, appHash): OfferResult {
      if (restored !== undefined || existsSync(directory)) return "abort";
      if (snapshot.format !== SNAPSHOT_FORMAT) return "rejectFormat";
      if (!isConsistent(snapshot)) return "rejectSender";
      log.info("restoring a snapshot", { height: snapshot.height, chunks: snapshot.chunks });
      received = new ReceivedSnapshot({ snapshot, appHash, config, bytesMax });
      senders.clear();
      return "accept";
    },
    applySnapshotChunk(index, chunk, sender): ApplyResult {
      if (received === undefined) return result("abort");
      const { snapshot, appHash } = received;
      if (index !== received.next || !isChunkOf(snapshot, index, chunk)) {
        log.warn("chunk of a snapshot does not fit", { index, sender });
        return { result: "retry", refetchChunks: [received.next], rejectSenders: [sender] };
      }
      senders.add(sender);
      let whole: WholeSnapshot | undefined;
      try {
        whole = received.add(chunk);
      } catch (error) {
        received = undefined;
        log.warn("snapshot rejected", { height: snapshot.height, error });
        if (error instanceof SnapshotTooLargeError) return result("rejectSnapshot");
        return { ...result("rejectSnapshot"), rejectSenders: [...senders] };
      }
      if (whole !== undefined) {
        received = undefined;
        store(whole, directory);
        restored = { height: snapshot.height, appHash };
      }
      return result("accept");
    },
  };
}

function result(kind: ApplyResult["result"]): ApplyResult {
  return { result: kind, refetchChunks: [], rejectSenders: [] };
}

/** Makes the store at `directory`, which begins with the block of the snapshot. */
function store({ record, nodes }: WholeSnapshot, directory: string): void {
  const unfinished = `${directory}.restoring`;
  rmSync(unfinished, { recursive: true, force: true });
  try {
    const target = openDiskBlockStore({ directory: unfinished, createTrie: createStateTrie });
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
