import { HISTORY_STORAGE_ADDRESS } from "../../base/params/gas.ts";
import type { Address } from "../../base/primitives/address.ts";
import { bytesToBigint } from "../../base/primitives/bytes.ts";
import { hashFromBigint, hashToBytes } from "../../base/primitives/hash.ts";
import type { Failures } from "../../base/telemetry/failures.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Metrics } from "../../base/telemetry/metrics.ts";
import type { Chain } from "../../chain/chain.ts";
import { encodeBlockRecord } from "../../chain/records/block-record.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import type { SnapshotFiles } from "./snapshot-files.ts";
import { CHUNK_BYTES, packChunk, statePartsOf } from "./snapshot-format.ts";

type SnapshotsOptions = {
  /** Blocks between two snapshots; 0: none is taken. */
  readonly interval: number;
  /** Bytes of state in a chunk before compression. */
  readonly chunkBytes?: number;
};

type SnapshotsModules = {
  readonly chain: Chain;
  /** Every address that has or had an account. */
  readonly addresses: () => Iterable<Address>;
  /** Keeps the states from a block on from being pruned until the returned function is called. */
  readonly pinState: (number: number) => () => void;
  readonly files: SnapshotFiles;
  readonly failures: Failures;
  readonly metrics: Metrics;
  readonly log: Logger;
};

/** Takes snapshots of the state in the background. */
export type Snapshots = {
  /** Takes one of the head; does nothing while another one is taken. */
  take(): Promise<void>;
  /** Stops to take them with new blocks. */
  close(): void;
};

export function createSnapshots(
  { interval, chunkBytes = CHUNK_BYTES }: SnapshotsOptions,
  { chain, addresses, pinState, files, failures, metrics, log }: SnapshotsModules,
): Snapshots {
  const taken = metrics.counter({ name: "snapshots_total", help: "Snapshots of the state taken." });
  let isTaking = false;
  let isClosed = false;

  async function* chunksOf(height: number) {
    const executed = chain.block(height)!;
    const record = { ...executed, changes: { accounts: [], codes: new Map() } };
    const consensusData = chain.consensusDataOf(height);
    const accessList = chain.accessList(height);
    yield packChunk(encodeBlockRecord({ ...record, consensusData, accessList }, new Set()));
    const known = Array.from(addresses()).sort();
    for await (const part of statePartsOf(chain.stateAt(height), known, chunkBytes)) {
      if (isClosed) throw new SnapshotStoppedError();
      yield packChunk(part);
    }
  }

  async function take(): Promise<void> {
    if (isTaking || isClosed) return;
    isTaking = true;
    const height = chain.head().block.header.number;
    const start = performance.now();
    const unpin = pinState(height);
    try {
      if (!hasAncestors(chain.stateAt(height), height, chain)) {
        log.warn("no snapshot: the state does not hold the hashes of older blocks (EIP-2935)");
        return;
      }
      const bytes = await files.write(height, chunksOf(height));
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

/** Blocks whose hashes BLOCKHASH reaches. */
const BLOCKHASH_WINDOW = 256;
/** EIP-2935: the contract stores the hashes of so many blocks. */
const HISTORY_SERVE_WINDOW = 8_191;

/** A node without the blocks before a snapshot finds their hashes in the state. */
function hasAncestors(state: StateReader, height: number, { blockHash }: Pick<Chain, "blockHash">) {
  for (let number = Math.max(0, height - BLOCKHASH_WINDOW); number < height; number++) {
    const slot = hashFromBigint(BigInt(number % HISTORY_SERVE_WINDOW));
    const hash = blockHash(number);
    const stored = state.storage(HISTORY_STORAGE_ADDRESS, slot);
    if (hash === undefined || stored !== bytesToBigint(hashToBytes(hash))) return false;
  }
  return true;
}
