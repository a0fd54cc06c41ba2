import type { Address } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";

/** A consensus timestamp: Unix seconds and nanoseconds. */
export type Time = { readonly seconds: number; readonly nanos: number };

export type Validator = {
  /** compressed secp256k1 key, 33 bytes */
  readonly publicKey: Uint8Array;
  readonly address: Address;
  readonly power: number;
};

/** The signatures of the parent block. */
export type LastCommit = {
  readonly round: number;
  readonly votes: readonly {
    readonly address: Address;
    readonly power: number;
    readonly flag: "absent" | "commit" | "nil";
  }[];
};

export type Misbehavior = {
  readonly kind: "duplicateVote" | "lightClientAttack";
  readonly address: Address;
  readonly height: number;
};

/** The engine's decisions about a block before its contents are known. */
export type Proposal = {
  readonly height: number;
  readonly time: Time;
  readonly proposer: Address;
  readonly lastCommit: LastCommit;
  readonly misbehavior: readonly Misbehavior[];
};

type BlockBounds = {
  /** Total size of the encoded transactions, including the engine's framing. */
  readonly maxTxBytes: number;
  /** Without the proposer data; undefined: as many as fit. */
  readonly maxTxs?: number | undefined;
};

/** A proposed or decided block: proposer data first (`proposer-data.ts`), then EIP-2718 transactions. */
export type BlockInput = Proposal & {
  readonly txs: readonly Uint8Array[];
  /** The engine's own hash of the block, which is parentBeaconBlockRoot of the next block (EIP-4788). */
  readonly consensusHash: Hash;
};

/** Result codes of submitted transactions: ABCI reads 0 as success and codes from 32000 as "retry". */
export const INSERT_CODES = { accepted: 0, invalid: 1, retry: 32000 } as const;
export type InsertCode = (typeof INSERT_CODES)[keyof typeof INSERT_CODES];

/**
 * The ABCI result of one element of `txs`; CometBFT hashes it into the next header.
 *
 * Code 0: the element is part of the Ethereum block. A reverted or halted EVM call also has code 0; the receipt shows its failure (status 0x0).
 * This keeps the results hash independent of the EVM. Code 1: the transaction was invalid at its position and is not part of the Ethereum block;
 * only a decided block that `processProposal` did not see can contain one.
 */
export type TxResult = {
  readonly code: 0 | 1;
  /** Gas limit of the transaction; 0 for proposer data and for skipped transactions. */
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
};

export type BlockResult = {
  /** The block hash. */
  readonly appHash: Hash;
  /** One per element of `txs`, in order. */
  readonly results: readonly TxResult[];
  readonly validatorUpdates: readonly Validator[];
  /** Age limit of evidence in seconds from the next block on, if this block changes it; null: the limit in the engine's genesis. */
  readonly evidenceAgeSeconds?: number | null;
};

export type ChainStart = {
  readonly time: Time;
  /** `evmint-` and the EVM chain id in decimal. */
  readonly chainId: string;
  /** Height of the first block the engine decides. */
  readonly initialHeight: number;
  readonly validators: readonly Validator[];
  /** JSON: `AppState` */
  readonly appState: Uint8Array;
};

/** A snapshot of the state as peers offer it. */
export type Snapshot = {
  readonly height: number;
  readonly format: number;
  readonly chunks: number;
  readonly hash: Uint8Array;
  readonly metadata: Uint8Array;
};

export type OfferResult = "accept" | "abort" | "reject" | "rejectFormat" | "rejectSender";
export type ApplyResult = {
  readonly result: "accept" | "abort" | "retry" | "retrySnapshot" | "rejectSnapshot";
  readonly refetchChunks: readonly number[];
  readonly rejectSenders: readonly string[];
};

/**
 * The chain as a state machine, with the calls of ABCI 2.0. An engine decides order and time of blocks and drives it: the solo engine in
 * process, CometBFT through a socket. Calls are serial. `test/support/consensus/application-contract.ts` tests the rules.
 *
 * A height is any number of `prepareProposal` and `processProposal`, then `finalizeBlock`, then `commit`. Replay after a crash skips the
 * proposals and may finalize the same block again.
 */
export interface Application {
  /** Height and hash of the last committed block. `appVersion` is consensus_params.version.app. */
  info(): { readonly height: number; readonly appHash: Hash; readonly appVersion: number };
  /**
   * Checks that the engine's genesis describes this chain. Can be repeated until the first commit.
   * @throws GenesisDisagreementError
   */
  initChain(start: ChainStart): { readonly appHash: Hash };
  /** Submits a transaction of a local user. Code 0: it is in the pool, or, with blobs, will be once its proofs are verified. */
  checkTx(tx: Uint8Array): { readonly code: InsertCode; readonly log: string };
  /**
   * Submits a transaction from a peer. `invalid` means that it can never become valid, because the peer's engine never sends those bytes again;
   * nonce gaps are accepted. Proofs of blobs are verified after the answer, so that other peers do not wait.
   */
  insertTx(tx: Uint8Array): { readonly code: InsertCode };
  /**
   * Transactions for peers in network form: each newly pending or queued one once, local ones again while they wait. Those that do not fit wait
   * for the next call; those that exceed a limit alone are skipped. 0 means no limit.
   */
  reapTxs(limits: { readonly maxBytes: number; readonly maxGas: bigint }): Uint8Array[];
  /**
   * The contents of the next block, proposer data first. Never throws: a transaction that crashes the executor is set aside. After any other
   * failure the proposal has no transactions, or is empty if even proposer data cannot be made: every node rejects an empty one.
   */
  prepareProposal(proposal: Proposal & BlockBounds): Uint8Array[];
  /**
   * Builds the block of an expected proposal for at most `timeMs`; returns whether work remains. `prepareProposal` of the same proposal uses the
   * result. Never throws.
   */
  prepareAhead?(proposal: Proposal & { readonly maxTxBytes: number }, timeMs: number): boolean;
  /** Whether header fields and all elements are valid in this order. Depends only on `input` and the committed state. */
  processProposal(input: BlockInput): boolean;
  /**
   * Executes a decided block. Nothing is stored before `commit`, and equal inputs give equal results.
   * @throws InvalidBlockError, InvalidProposerDataError if the decided block cannot follow the head
   */
  finalizeBlock(input: BlockInput): BlockResult;
  /** Makes the finalized block durable, then publishes it. */
  commit(): void;
  /** The snapshots this node can serve. */
  listSnapshots(): readonly Snapshot[];
  /** The bytes of one chunk; empty if it does not exist. */
  loadSnapshotChunk(height: number, format: number, chunk: number): Uint8Array;
  /** Asks whether to restore `snapshot`, whose state has `appHash`. */
  offerSnapshot(snapshot: Snapshot, appHash: Hash): OfferResult;
  applySnapshotChunk(index: number, chunk: Uint8Array, sender: string): ApplyResult;
  /** The engine has exited: discards blocks that were proposed or finalized but not committed. */
  engineLost(): void;
}
