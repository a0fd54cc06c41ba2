import type { Address } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";

/** A moment as consensus counts it: Unix seconds and the nanoseconds beyond them. */
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

/** What the engine decides about a block before its contents are known. */
export type Proposal = {
  readonly height: number;
  readonly time: Time;
  readonly proposer: Address;
  readonly lastCommit: LastCommit;
  readonly misbehavior: readonly Misbehavior[];
};

type BlockBounds = {
  /** Total size of the encoded transactions, with the engine's framing of each. */
  readonly maxTxBytes: number;
  /** Beside the proposer data; undefined: as many as fit. */
  readonly maxTxs?: number | undefined;
};

/** A proposed or decided block: proposer data first (`proposer-data.ts`), then EIP-2718 transactions. */
export type BlockInput = Proposal & {
  readonly txs: readonly Uint8Array[];
  /** The engine's own hash of the block, which is parentBeaconBlockRoot of the next block (EIP-4788). */
  readonly consensusHash: Hash;
};

/** Result codes of submitted transactions: ABCI takes 0 for success and every code from 32000 as "try again". */
export const INSERT_CODES = { accepted: 0, invalid: 1, retry: 32000 } as const;
export type InsertCode = (typeof INSERT_CODES)[keyof typeof INSERT_CODES];

/**
 * The native result of one element of `txs`; CometBFT hashes it into the next header.
 *
 * Code 0: the element is part of the Ethereum block. A reverted or halted EVM call has code 0 too: its failure is in the
 * receipt (status 0x0), and one meaning of "failed" on each level keeps the results hash independent of the EVM.
 * Code 1: the transaction was invalid at its position and is not part of the Ethereum block; only a decided block that
 * `processProposal` did not see can hold one.
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
  /** One for each element of `txs`, in order. */
  readonly results: readonly TxResult[];
  readonly validatorUpdates: readonly Validator[];
  /** The age limit of evidence in seconds from the next block on, if this block changes it; null: the limit of the engine's genesis. */
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
 * The chain as a state machine, with the calls of ABCI 2.0. An engine decides order and time of blocks and drives it: the
 * solo engine in process, CometBFT through a socket. One call at a time. `test/support/consensus/application-contract.ts` tests the rules.
 *
 * A height is: any number of `prepareProposal` and `processProposal`, then `finalizeBlock`, then `commit`. Replay after a crash
 * skips the proposals and may finalize the same block again.
 */
export interface Application {
  /** Height and hash of the last committed block. `appVersion` is consensus_params.version.app. */
  info(): { readonly height: number; readonly appHash: Hash; readonly appVersion: number };
  /**
   * Checks that the engine's genesis describes this chain. May be repeated until the first commit.
   * @throws GenesisDisagreementError
   */
  initChain(start: ChainStart): { readonly appHash: Hash };
  /** Submits a transaction as a local user. Code 0: it is in the pool, or, with blobs, will be once its proofs are verified. */
  checkTx(tx: Uint8Array): { readonly code: InsertCode; readonly log: string };
  /**
   * Takes a transaction from a peer. `invalid` only for what can never become valid, because the peer's engine never sends those
   * bytes again; nonce gaps are accepted. Proofs of blobs are verified after the answer, so that no other peer waits for them.
   */
  insertTx(tx: Uint8Array): { readonly code: InsertCode };
  /**
   * Transactions for peers in network form: each newly pending or queued one once, local ones again while they wait. What does
   * not fit waits for the next call; what alone exceeds a limit is skipped. 0 means no limit.
   */
  reapTxs(limits: { readonly maxBytes: number; readonly maxGas: bigint }): Uint8Array[];
  /**
   * The contents of the next block, proposer data first. Never throws: a transaction that crashes the executor is set aside, and
   * after any other failure the proposal has no transactions, or nothing at all where not even proposer data can be made: every
   * node rejects that one.
   */
  prepareProposal(proposal: Proposal & BlockBounds): Uint8Array[];
  /**
   * Begins the block of an expected proposal, for at most `timeMs`, and returns whether more work is left. `prepareProposal` of the same
   * proposal uses the result. Never throws.
   */
  prepareAhead?(proposal: Proposal & { readonly maxTxBytes: number }, timeMs: number): boolean;
  /** True when header fields and every element are valid in this order. Depends only on `input` and the committed state. */
  processProposal(input: BlockInput): boolean;
  /**
   * Executes a decided block. Nothing is stored before `commit`, and the result of equal inputs is equal.
   * @throws InvalidBlockError, InvalidProposerDataError when the decided block cannot follow the head
   */
  finalizeBlock(input: BlockInput): BlockResult;
  /** Returns when the finalized block is durable; then it is published. */
  commit(): void;
  /** The snapshots this node can serve. */
  listSnapshots(): readonly Snapshot[];
  /** The bytes of one chunk; empty if none. */
  loadSnapshotChunk(height: number, format: number, chunk: number): Uint8Array;
  /** Asks whether to restore `snapshot`, whose state has `appHash`. */
  offerSnapshot(snapshot: Snapshot, appHash: Hash): OfferResult;
  applySnapshotChunk(index: number, chunk: Uint8Array, sender: string): ApplyResult;
  /** The engine has exited: discards blocks that were proposed or finalized but not committed. */
  engineLost(): void;
}
