import { setImmediate } from "node:timers/promises";
import { HISTORY_SERVE_WINDOW, HISTORY_STORAGE_ADDRESS } from "../../base/params/gas.ts";
import { bytesToBigint, EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { hashFromBigint, hashToBytes } from "../../base/primitives/hash.ts";
import type { Failures } from "../../base/telemetry/failures.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Metrics } from "../../base/telemetry/metrics.ts";
import type { Chain } from "../../chain/chain.ts";
import { encodeBlockRecord } from "../../chain/records/block-record.ts";
import type { LogBlockStore } from "../../chain/store/log-block-store.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import { BoundaryProofs } from "./boundary-proofs.ts";
import type { SnapshotFiles } from "./snapshot-files.ts";
import { CHUNK_BYTES, packBlock, packPart, packProof } from "./snapshot-format.ts";
import { StateParts } from "./state-parts.ts";

type SnapshotsOptions = {
  /** Blocks between two snapshots; 0: none are taken. */
  readonly interval: number;
  /** Uncompressed bytes of state in a chunk. */
  readonly chunkBytes?: number;
};

type SnapshotsModules = {
  readonly chain: Chain;
  readonly store: Pick<LogBlockStore, "pinState" | "statePieces">;
  readonly files: SnapshotFiles;
  readonly failures: Failures;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Rests between two slices of work; default: one turn of the event loop. */
  readonly pause?: () => Promise<void>;
};

/** Work between two pauses, for which blocks and callers wait. */
const SLICE_MS = 2;
/** Pause after a slice: the rest of the thread gets two thirds of the time. */
export const SNAPSHOT_REST_MS = 4;

/** Takes snapshots of the state in the background. */
export type Snapshots = {
  /** Takes one of the head; does nothing while one is in progress. */
  take(): Promise<void>;
  /** Stops taking snapshots with new blocks. */
  close(): void;
};

export function createSnapshots(
  { interval, chunkBytes = CHUNK_BYTES }: SnapshotsOptions,
  { chain, store, files, failures, metrics, log, pause = setImmediate }: SnapshotsModules,
): Snapshots {
  const taken = metrics.counter({ name: "snapshots_total", help: "State snapshots taken." });
  let isTaking = false;
  let isClosed = false;

  async function* chunksOf(height: number, proofs: BoundaryProofs) {
    const executed = chain.block(height)!;
    const record = { ...executed, changes: { accounts: [], codes: new Map() } };
    const consensusData = chain.consensusDataOf(height);
    const accessList = chain.accessList(height);
    yield packBlock(encodeBlockRecord({ ...record, consensusData, accessList }, new Set()));
    const state = chain.stateAt(height);
    const parts = new StateParts(proofs, (codeHash) => state.code(codeHash), chunkBytes);
    let sliceEnd = performance.now() + SLICE_MS;
    for (const piece of store.statePieces(height, proofs.sinkOf)) {
      const part = piece && parts.add(piece);
      if (part !== undefined) yield packPart(part);
      if (performance.now() < sliceEnd) continue;
      await pause();
      if (isClosed) throw new SnapshotStoppedError();
      sliceEnd = performance.now() + SLICE_MS;
    }
    const last = parts.finish();
    if (last !== undefined) yield packPart(last);
  }

  async function take(): Promise<void> {
    if (isTaking || isClosed) return;
    isTaking = true;
    const height = chain.head().block.header.number;
    const start = performance.now();
    const unpin = store.pinState(height);
    try {
      if (!hasAncestors(chain.stateAt(height), height, chain)) {
        log.warn("cannot take a snapshot: the state lacks the hashes of older blocks (EIP-2935)");
        return;
      }
      const proofs = new BoundaryProofs();
      const bytes = await files.write(height, chunksOf(height, proofs), () => [
        EMPTY_BYTES,
        ...proofs.proofs().map(packProof),
      ]);
      taken.add();
      const elapsedMs = Math.round(performance.now() - start);
      log.info("snapshot taken", { height, bytes, elapsedMs });
    } catch (error) {
      if (!(error instanceof SnapshotStoppedError)) failures.report("snapshot", error, { height });
    } finally {
      unpin();
      isTaking = false;
    }
  }

  const unsubscribe = chain.subscribe(({ executed: { block } }) => {
    if (interval > 0 && block.header.number % interval === 0) void take();
  });
  return {
    take,
    close() {
      isClosed = true;
      unsubscribe();
    },
  };
}

/** The node stops while a snapshot is taken. */
class SnapshotStoppedError extends Error {}

/** Number of blocks that BLOCKHASH reaches. */
const BLOCKHASH_WINDOW = 256;

/** A node without the blocks before a snapshot reads their hashes from the state. */
function hasAncestors(state: StateReader, height: number, { blockHash }: Pick<Chain, "blockHash">) {
  for (let number = Math.max(0, height - BLOCKHASH_WINDOW); number < height; number++) {
    const slot = hashFromBigint(BigInt(number % HISTORY_SERVE_WINDOW));
    const hash = blockHash(number);
    const stored = state.storage(HISTORY_STORAGE_ADDRESS, slot);
    if (hash === undefined || stored !== bytesToBigint(hashToBytes(hash))) return false;
  }
  return true;
}
