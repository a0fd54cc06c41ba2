import { NodeError } from "../../base/errors.ts";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import { EMPTY_BYTES, equalBytes } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";
import { headerHash } from "../../base/types/header-codec.ts";
import type { BlockRecord } from "../../chain/block-store.ts";
import { decodeBlockRecord, encodeBlockRecord } from "../../chain/records/block-record.ts";
import { encodeChanges, readChanges } from "../../chain/records/changes-record.ts";
import { verifyReceivedBlock } from "../../evm/execution/block/execute-block.ts";
import { EMPTY_CODE_HASH, sameAccount } from "../../evm/state/account.ts";
import type { AccountChange, StateChanges } from "../../evm/state/reader.ts";
import { assertWholeState } from "../../evm/state/state-changes.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { ByteReader } from "../../store/storage/byte-io.ts";
import type { NodeBatch } from "../../store/trie/node-batch.ts";
import { NODE_CACHE_BYTES_MIN } from "../../store/trie/node-cache.ts";
import type { Snapshot } from "../application.ts";
import { type ConsensusData, decodeConsensusData, encodeConsensusData } from "../consensus-data.ts";
import type { Offence } from "../voting/jail.ts";
import { unpackChunk } from "./snapshot-format.ts";

/** A snapshot is not what its app hash says, or not in the one form that it has: those that offer it are wrong or lie. */
export class InvalidSnapshotError extends NodeError {
  readonly code = "ENGINE_INVALID_SNAPSHOT";
}

/** A peer may offer anything: its app hash vouches for the state only once that is whole. */
export class SnapshotTooLargeError extends NodeError {
  readonly code = "ENGINE_SNAPSHOT_TOO_LARGE";
  constructor(details: { readonly bytesMax: number }) {
    super(`the snapshot has more than ${details.bytesMax} bytes: raise snapshot.restore-size-limit`, details);
  }
}

type ReceivedSnapshotOptions = {
  readonly snapshot: Snapshot;
  /** Hash of the block, which CometBFT has verified. */
  readonly appHash: Hash;
  readonly config: ChainConfig;
  /** Bytes that all chunks may have before compression. */
  readonly bytesMax: number;
};

/** The block of a snapshot with all of its state, as the header of the block commits to them. */
export type WholeSnapshot = {
  readonly record: BlockRecord;
  /** The trie of the state. */
  readonly nodes: NodeBatch;
};

/** The account that the last part ended with, of which the next one may have more slots. */
type OpenAccount = AccountChange & { readonly storage: Map<Hash, bigint>; lastSlot: Hash | "" };

/**
 * Decodes the chunks of a snapshot in order. It is the one place that reads what peers send of a snapshot, and it reads no file: whatever it
 * throws is the fault of the snapshot.
 *
 * Each part has one form: its bytes must be those that `statePartsOf` would write of what was read from them. So nothing is left to
 * checks of single fields but what the form can express and no state has, which `assertWholeState` refuses.
 */
export class ReceivedSnapshot {
  readonly #options: ReceivedSnapshotOptions;
  #next = 0;
  /** Of the chunks so far, before compression. */
  #bytes = 0;
  #block: Omit<BlockRecord, "changes"> | undefined;
  readonly #accounts: AccountChange[] = [];
  readonly #codes = new Map<Hash, Uint8Array>();
  #last: OpenAccount | undefined;

  /** @param options the snapshot's description is consistent */
  constructor(options: ReceivedSnapshotOptions) {
    this.#options = options;
  }

  get snapshot(): Snapshot {
    return this.#options.snapshot;
  }

  get appHash(): Hash {
    return this.#options.appHash;
  }

  /** Index of the chunk that `add` takes. */
  get next(): number {
    return this.#next;
  }

  /**
   * @param chunk whose hash is that in the metadata
   * @returns the snapshot, with its last chunk
   * @throws InvalidSnapshotError, SnapshotTooLargeError; it takes no more chunks then
   */
  add(chunk: Uint8Array): WholeSnapshot | undefined {
    try {
      this.#addContent(unpackChunk(chunk));
      return ++this.#next === this.#options.snapshot.chunks ? this.#whole() : undefined;
    } catch (cause) {
      if (cause instanceof SnapshotTooLargeError || cause instanceof InvalidSnapshotError) throw cause;
      // Decoders throw what their callers of our own data need. Of a peer's data all of it means the same.
      throw new InvalidSnapshotError(`chunk ${this.#next} is malformed`, {}, { cause });
    }
  }

  /**
   * @param data of the block, as the network has it, with every offence that the block proves: a snapshot has those that had an effect
   * @throws InvalidSnapshotError before the first chunk, or where it says something else
   */
  assertConsensusData(data: ConsensusData): void {
    const received = this.#block?.consensusData ?? EMPTY_BYTES;
    const punished = decodeConsensusData(received)?.cast?.offences ?? [];
    if (!equalBytes(received, encodeConsensusData(withOffences(data, punished)))) {
      throw new InvalidSnapshotError("the consensus data is not that of the block");
    }
  }

  #addContent(content: Uint8Array): void {
    const { bytesMax } = this.#options;
    this.#bytes += content.length;
    if (this.#bytes > bytesMax) throw new SnapshotTooLargeError({ bytesMax });
    if (this.#next === 0) this.#block = this.#decodeBlock(content);
    else this.#addPart(content);
  }

  #decodeBlock(content: Uint8Array): Omit<BlockRecord, "changes"> {
    const { snapshot, appHash, config } = this.#options;
    const { block, receipts, consensusData, accessList } = decodeBlockRecord(content);
    // First: what is computed of a header that anybody made up can take for ever, like the blob base fee of a huge excess.
    if (headerHash(block.header) !== appHash || block.header.number !== snapshot.height) {
      throw new InvalidSnapshotError("the block is another one than CometBFT verified");
    }
    const verified = verifyReceivedBlock(block, receipts, config);
    const data = decodeConsensusData(consensusData);
    if (data === undefined || !equalBytes(encodeConsensusData(data), consensusData)) {
      throw new InvalidSnapshotError("the consensus data of the block is not in its form");
    }
    if (block.header.blockAccessListHash !== (accessList && keccak256Hash(accessList))) {
      throw new InvalidSnapshotError("the access list is not that of the block");
    }
    const record = { ...verified, consensusData, accessList };
    const written = encodeBlockRecord({ ...record, changes: NO_CHANGES }, new Set());
    if (!equalBytes(written, content)) throw new InvalidSnapshotError("the block is not in its form");
    // A copy: views would hold the whole chunk.
    return {
      ...record,
      consensusData: Uint8Array.from(consensusData),
      ...(accessList && { accessList: Uint8Array.from(accessList) }),
    };
  }

  #addPart(content: Uint8Array): void {
    const part = readChanges(new ByteReader(content));
    const accounts = part.accounts.map((change) => ({ ...change, storageCleared: false }));
    if (accounts.length === 0 || !equalBytes(encodeChanges({ ...part, accounts }), content)) {
      throw new InvalidSnapshotError("a part of the state is not in its form");
    }
    const newCodes: Hash[] = [];
    for (const change of accounts) {
      if (!this.#continues(change)) newCodes.push(...this.#begin(change));
      this.#addSlots(change.storage);
    }
    this.#addCodes(part.codes, newCodes);
  }

  /** Whether these are more slots of the account that came last. */
  #continues({ address, account, storage }: AccountChange): boolean {
    const last = this.#last;
    if (last === undefined || last.address < address) return false;
    const isSame =
      last.address === address && account !== null && last.account !== null && sameAccount(account, last.account);
    if (!isSame || storage.size === 0) {
      throw new InvalidSnapshotError("accounts are not in order, or one is there twice", {
        address,
      });
    }
    return true;
  }

  /** The code that this account is the first to have. */
  #begin(change: AccountChange): readonly Hash[] {
    const { address, account } = change;
    this.#last = { ...change, storage: new Map(), lastSlot: "" };
    this.#accounts.push(this.#last);
    if (account === null) throw new InvalidSnapshotError("an account is removed", { address });
    const { codeHash } = account;
    if (codeHash === EMPTY_CODE_HASH || this.#codes.has(codeHash)) return [];
    // Its code follows in this part.
    this.#codes.set(codeHash, NOT_YET);
    return [codeHash];
  }

  #addSlots(storage: ReadonlyMap<Hash, bigint>): void {
    const last = this.#last!;
    for (const [slot, value] of storage) {
      if (slot <= last.lastSlot) {
        throw new InvalidSnapshotError("slots are not in order", { address: last.address, slot });
      }
      last.storage.set(slot, value);
      last.lastSlot = slot;
    }
  }

  /** @param expected in the order in which accounts of the part are the first to have them */
  #addCodes(codes: ReadonlyMap<Hash, Uint8Array>, expected: readonly Hash[]): void {
    const found = [...codes.keys()];
    if (found.length !== expected.length || found.some((hash, i) => hash !== expected[i])) {
      throw new InvalidSnapshotError("the codes of a part are not those that its accounts bring");
    }
    // A view of the chunk, whose memory must not be held for it.
    for (const [hash, code] of codes) this.#codes.set(hash, Uint8Array.from(code));
  }

  #whole(): WholeSnapshot {
    const block = this.#block!;
    const changes: StateChanges = { accounts: this.#accounts, codes: this.#codes };
    assertWholeState(changes);
    const { root, nodes } = createStateTrie(NO_NODES, ONE_UPDATE).update(EMPTY_TRIE_ROOT, changes);
    if (root !== block.block.header.stateRoot) {
      throw new InvalidSnapshotError("the state is not that of the block", { root });
    }
    return { record: { ...block, changes }, nodes };
  }
}

const NO_CHANGES: StateChanges = { accounts: [], codes: new Map() };
/** The trie is made at once, of nothing that a cache would spare reading. */
const ONE_UPDATE = { cacheBytes: NODE_CACHE_BYTES_MIN };
const NO_NODES = { node: () => undefined };
/** Until the code of an account is read, which is after it in the same part. */
const NOT_YET = EMPTY_BYTES;

/** `data` with those of its offences that are in `punished`. */
function withOffences({ cast, ...data }: ConsensusData, punished: readonly Offence[]): ConsensusData {
  if (cast === undefined) return data;
  const offences = (cast.offences ?? []).filter((proven) =>
    punished.some(({ address, height }) => address === proven.address && height === proven.height),
  );
  const { vote, parameterVote } = cast;
  if (!vote && !parameterVote && offences.length === 0) return data;
  return { ...data, cast: { ...cast, offences } };
}
