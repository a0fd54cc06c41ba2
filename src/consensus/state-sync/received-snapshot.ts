import { NodeError } from "../../base/errors.ts";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import { addressToBytes } from "../../base/primitives/address.ts";
import { EMPTY_BYTES, equalBytes } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../base/primitives/hash.ts";
import { keccak256, keccak256Hash } from "../../base/primitives/keccak.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import { headerHash } from "../../base/types/header-codec.ts";
import type { BlockRecord } from "../../chain/block-store.ts";
import { decodeBlockRecord, encodeBlockRecord } from "../../chain/records/block-record.ts";
import { encodeChanges, readChanges } from "../../chain/records/changes-record.ts";
import { OrderedState } from "../../chain/store/nodes/ordered-state.ts";
import { verifyReceivedBlock } from "../../evm/execution/block/execute-block.ts";
import { sameAccount } from "../../evm/state/account.ts";
import type { AccountChange, StateChanges } from "../../evm/state/reader.ts";
import { assertPresent } from "../../evm/state/state-changes.ts";
import { ByteReader } from "../../store/storage/byte-io.ts";
import type { Snapshot } from "../application.ts";
import { type ConsensusData, decodeConsensusData, encodeConsensusData } from "../consensus-data.ts";
import type { Offence } from "../voting/jail.ts";
import { unpackBlock, unpackPart } from "./snapshot-format.ts";

/** A snapshot does not match its app hash or is not in canonical form; the peers that offer it are faulty or dishonest. */
export class InvalidSnapshotError extends NodeError {
  readonly code = "ENGINE_INVALID_SNAPSHOT";
}

type ReceivedSnapshotOptions = {
  readonly snapshot: Snapshot;
  /** Hash of the block, which CometBFT has verified. */
  readonly appHash: Hash;
  readonly config: ChainConfig;
};

/** Content of a chunk: the block, or changes that lead from the empty state to a part of its state (changes-record.ts). */
export type ReceivedChunk =
  | { readonly kind: "block" | "skipped" }
  | { readonly kind: "part"; readonly changes: Uint8Array };

/**
 * Decodes the chunks of a snapshot in order. Only this class reads what peers send of a snapshot, and it reads no files: all its errors are the
 * snapshot's fault.
 *
 * Each part is proven to be the next piece of the state in the header before it is used. It also has only one form: its bytes must be those that
 * `StateParts` would write for its content. So single fields need no checks, except for values that the form can express but no state has.
 */
export class ReceivedSnapshot {
  readonly #options: ReceivedSnapshotOptions;
  #next = 0;
  #block: BlockRecord | undefined;
  readonly #state = new OrderedState();
  readonly #codes = new Set<Hash>();
  /** The last received account; the next part may continue its slots. */
  #last: AccountChange | undefined;

  /** @param options with a consistent description of the snapshot */
  constructor(options: ReceivedSnapshotOptions) {
    this.#options = options;
  }

  get snapshot(): Snapshot {
    return this.#options.snapshot;
  }

  get appHash(): Hash {
    return this.#options.appHash;
  }

  /** The block without changes; available after the first chunk. */
  get block(): BlockRecord {
    return this.#block!;
  }

  /** Index of the next chunk for `add`. */
  get next(): number {
    return this.#next;
  }

  /** True after the last chunk: the state is complete. */
  get isWhole(): boolean {
    return this.#next === this.#options.snapshot.chunks;
  }

  /**
   * @param chunk whose hash is that in the metadata
   * @throws InvalidSnapshotError, after which it accepts no more chunks
   */
  add(chunk: Uint8Array): ReceivedChunk {
    try {
      const received = this.#next === 0 ? this.#addBlock(unpackBlock(chunk)) : this.#addPart(chunk);
      this.#next++;
      return received;
    } catch (cause) {
      if (cause instanceof InvalidSnapshotError) throw cause;
      // Decoders throw errors for callers with their own data. For a peer's data they all mean the same.
      throw new InvalidSnapshotError(`chunk ${this.#next} is malformed`, {}, { cause });
    }
  }

  /** Skips a part. */
  skip(): ReceivedChunk {
    this.#next++;
    return { kind: "skipped" };
  }

  /**
   * @param data of the block on the network, with every offence that the block proves: a snapshot has only the effective ones
   * @throws InvalidSnapshotError before the first chunk, or if the snapshot differs
   */
  assertConsensusData(data: ConsensusData): void {
    const received = this.#block?.consensusData ?? EMPTY_BYTES;
    const punished = decodeConsensusData(received)?.cast?.offences ?? [];
    if (!equalBytes(received, encodeConsensusData(withOffences(data, punished)))) {
      throw new InvalidSnapshotError("the consensus data does not match the block");
    }
  }

  #addBlock(content: Uint8Array): ReceivedChunk {
    const { snapshot, appHash, config } = this.#options;
    const { block, receipts, consensusData, accessList } = decodeBlockRecord(content);
    // Checked first: computing values of a forged header can take forever, such as the blob base fee of a huge excess.
    if (headerHash(block.header) !== appHash || block.header.number !== snapshot.height) {
      throw new InvalidSnapshotError("the block differs from the one that CometBFT verified");
    }
    const verified = verifyReceivedBlock(block, receipts, config);
    const data = decodeConsensusData(consensusData);
    if (data === undefined || !equalBytes(encodeConsensusData(data), consensusData)) {
      throw new InvalidSnapshotError("the consensus data of the block is not canonical");
    }
    if (block.header.blockAccessListHash !== (accessList && keccak256Hash(accessList))) {
      throw new InvalidSnapshotError("the access list does not match the block");
    }
    const record = { ...verified, consensusData, accessList, changes: NO_CHANGES };
    const written = encodeBlockRecord(record, new Set());
    if (!equalBytes(written, content)) throw new InvalidSnapshotError("the block is not canonical");
    // A copy: views would hold the whole chunk.
    if (snapshot.chunks === 1) throw new InvalidSnapshotError("the snapshot has no state");
    this.#block = {
      ...record,
      consensusData: Uint8Array.from(consensusData),
      ...(accessList && { accessList: Uint8Array.from(accessList) }),
    };
    return { kind: "block" };
  }

  #addPart(chunk: Uint8Array): ReceivedChunk {
    const { part: content, proof } = unpackPart(chunk);
    const part = readChanges(new ByteReader(content));
    if (part.accounts.length === 0 || !equalBytes(encodeChanges(part), content)) {
      throw new InvalidSnapshotError("a part of the state is not canonical");
    }
    const newCodes: Hash[] = [];
    for (const change of part.accounts) {
      const codeHash = assertPresent(change);
      if (!this.#continues(change)) newCodes.push(...this.#begin(change, codeHash));
      for (const [slot, value] of change.storage) this.#state.addSlot(keccak256(hashToBytes(slot)), value);
    }
    this.#assertCodes(part.codes, newCodes);
    // At the end, the root proves the whole state. A snapshot whose last part ended exactly with the state also has a proof.
    if (proof.length > 0) this.#state.assertBegins(this.#stateRoot, proof);
    if (this.#next + 1 === this.#options.snapshot.chunks) this.#assertEnd();
    else if (proof.length === 0) throw new InvalidSnapshotError("a part of the state has no proof");
    return { kind: "part", changes: content };
  }

  get #stateRoot(): Uint8Array {
    return hashToBytes(this.#block!.block.header.stateRoot);
  }

  /** Whether these are more slots of the last account. */
  #continues({ address, account, storage }: AccountChange): boolean {
    const last = this.#last;
    if (last?.address !== address) return false;
    if (storage.size === 0 || !sameAccount(account!, last.account!)) {
      throw new InvalidSnapshotError("an account occurs twice", { address });
    }
    return true;
  }

  /** The code, if this account is the first to have it. */
  #begin(change: AccountChange, codeHash: Hash): readonly Hash[] {
    this.#last = change;
    this.#state.addAccount(keccak256(addressToBytes(change.address)), change.account!);
    if (codeHash === EMPTY_CODE_HASH || this.#codes.has(codeHash)) return [];
    this.#codes.add(codeHash);
    return [codeHash];
  }

  /** @param expected in the order of the part's accounts that first have them */
  #assertCodes(codes: ReadonlyMap<Hash, Uint8Array>, expected: readonly Hash[]): void {
    const found = [...codes.keys()];
    if (found.length !== expected.length || found.some((hash, i) => hash !== expected[i])) {
      throw new InvalidSnapshotError("the codes of a part do not match its accounts");
    }
    for (const [codeHash, code] of codes) {
      if (keccak256Hash(code) !== codeHash)
        throw new InvalidSnapshotError("a code does not match its hash", { codeHash });
    }
  }

  /** The proofs show that each part begins the state, but not that nothing follows. */
  #assertEnd(): void {
    const root = this.#state.finish();
    if (!equalBytes(root, this.#stateRoot)) {
      throw new InvalidSnapshotError("the state does not match the block", { root: hashFromBytes(root) });
    }
  }
}

const NO_CHANGES: StateChanges = { accounts: [], codes: new Map() };

/** `data` with only those offences that are in `punished`. */
function withOffences({ cast, ...data }: ConsensusData, punished: readonly Offence[]): ConsensusData {
  if (cast === undefined) return data;
  const offences = (cast.offences ?? []).filter((proven) =>
    punished.some(({ address, height }) => address === proven.address && height === proven.height),
  );
  const { vote, parameterVote } = cast;
  if (!vote && !parameterVote && offences.length === 0) return data;
  return { ...data, cast: { ...cast, offences } };
}
