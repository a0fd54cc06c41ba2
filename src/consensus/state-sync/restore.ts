import { existsSync, renameSync, rmSync } from "node:fs";
import { decodeBlockRecord } from "../../chain/records/block-record.ts";
import { readChanges } from "../../chain/records/changes-record.ts";
import type { BlockRecord } from "../../chain/store/block-store.ts";
import { openDiskBlockStore } from "../../chain/store/open-block-store.ts";
import { InvariantError, invariant } from "../../errors.ts";
import { verifyReceivedBlock } from "../../execution/block/verify-received-block.ts";
import type { ChainConfig } from "../../params/chain-config.ts";
import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { createStateTrie } from "../../state/merkle-state-trie.ts";
import type { AccountChange } from "../../state/reader.ts";
import { ByteReader } from "../../storage/byte-io.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { EMPTY_TRIE_ROOT } from "../../types/constants.ts";
import type { Application, ApplyResult, OfferResult, Snapshot } from "../application.ts";
import { APP_VERSION } from "../chain-start.ts";
import { decodeConsensusData } from "../consensus-data.ts";
import { isChunkOf, isConsistent, SNAPSHOT_FORMAT, unpackChunk } from "./snapshot-format.ts";

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

type Attempt = {
  readonly snapshot: Snapshot;
  readonly appHash: Hash;
  next: number;
  /** Of the chunks so far, before compression. */
  bytes: number;
  block: Omit<BlockRecord, "changes"> | undefined;
  readonly accounts: Map<Address, AccountChange & { readonly storage: Map<Hash, bigint> }>;
  readonly codes: Map<Hash, Uint8Array>;
};

/**
 * Restores a snapshot. The app hash, which CometBFT has verified, is the hash of the block: its header vouches for body, receipts and state,
 * and a snapshot that differs anywhere is rejected. The store appears in `directory` whole or not at all; the state is held in memory until then.
 */
export function createRestore(
  { directory, config, bytesMax }: RestoreOptions,
  log: Logger,
): Restore {
  const unfinished = `${directory}.restoring`;
  let attempt: Attempt | undefined;
  let restored: { readonly height: number; readonly appHash: Hash } | undefined;

  function apply(current: Attempt, index: number, chunk: Uint8Array): void {
    const content = unpackChunk(chunk);
    current.bytes += content.length;
    if (current.bytes > bytesMax) throw new SnapshotTooLargeError(bytesMax);
    if (index === 0) current.block = receivedBlock(content, current, config);
    else addPart(content, current);
    current.next++;
    if (current.next === current.snapshot.chunks) {
      store(current);
      restored = { height: current.snapshot.height, appHash: current.appHash };
      attempt = undefined;
    }
  }

  function store({ block, accounts, codes }: Attempt): void {
    invariant(block, "the first chunk is the block");
    const changes = { accounts: [...accounts.values()], codes };
    rmSync(unfinished, { recursive: true, force: true });
    try {
      const target = openDiskBlockStore({ directory: unfinished, createTrie: createStateTrie });
      try {
        const { nodes } = createStateTrie(target.trieNodes).update(EMPTY_TRIE_ROOT, changes);
        // Compares the root of the state with the header's.
        target.append({ ...block, changes }, nodes);
      } finally {
        target.close();
      }
      renameSync(unfinished, directory);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      throw error;
    }
  }

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
      if (!isConsistent(snapshot)) return "reject";
      log.info("restoring a snapshot", { height: snapshot.height, chunks: snapshot.chunks });
      attempt = {
        ...{ snapshot, appHash, next: 0, bytes: 0, block: undefined },
        ...{ accounts: new Map(), codes: new Map() },
      };
      return "accept";
    },
    applySnapshotChunk(index, chunk, sender): ApplyResult {
      if (attempt === undefined) return result("abort");
      if (index !== attempt.next || !isChunkOf(attempt.snapshot, index, chunk)) {
        log.warn("chunk of a snapshot does not fit", { index, sender });
        return { result: "retry", refetchChunks: [attempt.next], rejectSenders: [sender] };
      }
      try {
        apply(attempt, index, chunk);
      } catch (error) {
        const { height } = attempt.snapshot;
        attempt = undefined;
        if (error instanceof InvariantError || isSystemError(error)) throw error;
        log.warn("snapshot rejected", { height, error });
        return result("rejectSnapshot");
      }
      return result("accept");
    },
  };
}

function result(kind: ApplyResult["result"]): ApplyResult {
  return { result: kind, refetchChunks: [], rejectSenders: [] };
}

/** A full disk is the operator's to solve, not a fault of the snapshot. */
function isSystemError(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code !== undefined && syscall !== undefined;
}

/** A peer may offer anything: its app hash vouches for the state only once that is whole. */
class SnapshotTooLargeError extends Error {
  constructor(bytesMax: number) {
    super(`the snapshot has more than ${bytesMax} bytes: raise snapshot.restore-size-limit`);
  }
}

/** A snapshot is not what its app hash says. */
class SnapshotMismatchError extends Error {}

function receivedBlock(content: Uint8Array, { snapshot, appHash }: Attempt, config: ChainConfig) {
  const { block, receipts, consensusData } = decodeBlockRecord(content);
  const verified = verifyReceivedBlock(block, receipts, config);
  if (verified.block.hash !== appHash || block.header.number !== snapshot.height) {
    throw new SnapshotMismatchError("the block is another one than CometBFT verified");
  }
  if (decodeConsensusData(consensusData) === undefined) {
    throw new SnapshotMismatchError("the block has no consensus data");
  }
  return { ...verified, consensusData };
}

function addPart(content: Uint8Array, { accounts, codes }: Attempt): void {
  const reader = new ByteReader(content);
  const part = readChanges(reader);
  for (const change of part.accounts) {
    const storage = accounts.get(change.address)?.storage ?? new Map<Hash, bigint>();
    for (const [slot, value] of change.storage) storage.set(slot, value);
    accounts.set(change.address, { ...change, storage, storageCleared: false });
  }
  for (const [hash, code] of part.codes) {
    if (keccak256Hash(code) !== hash) throw new SnapshotMismatchError("code of another hash");
    // A view of the chunk, whose memory must not be held for it.
    codes.set(hash, Uint8Array.from(code));
  }
}
