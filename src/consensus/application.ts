import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";

/** A moment as consensus counts it. */
export type Time = { readonly seconds: number; readonly nanos: number };

export type Validator = {
  /** compressed secp256k1 key, 33 bytes */
  readonly publicKey: Uint8Array;
  readonly address: Address;
  readonly power: number;
};

/** Who signed the block before. */
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

/** What an engine says of a block before it has any result. */
export type Proposal = {
  readonly height: number;
  readonly time: Time;
  readonly proposer: Address;
  readonly lastCommit: LastCommit;
  readonly misbehavior: readonly Misbehavior[];
};

/** A proposed or decided block: proposer data first (`proposer-data.ts`), then EIP-2718 transactions. */
export type BlockInput = Proposal & {
  readonly txs: readonly Uint8Array[];
  /** The engine's own hash of the block; the next block shows it as parentBeaconBlockRoot (EIP-4788). */
  readonly consensusHash: Hash;
};

/** The native result of one element of `txs`. Code 0 is success, 1 failure: the reverse of a receipt's status. */
export type TxResult = {
  readonly code: 0 | 1;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
};

export type BlockResult = {
  /** The block hash. */
  readonly appHash: Hash;
  readonly results: readonly TxResult[];
  readonly validatorUpdates: readonly Validator[];
};

/**
 * The chain as a state machine, with the calls of ABCI 2.0. An engine decides order and time of blocks and drives it:
 * the solo engine in process, CometBFT through a socket. One call at a time.
 */
export interface Application {
  /** Height and hash of the last committed block. */
  info(): { readonly height: number; readonly appHash: Hash };
  /** Offers a transaction as a user would. Code 0: it is in the pool. */
  checkTx(tx: Uint8Array): { readonly code: number; readonly log: string };
  /** Takes a transaction from a peer. */
  insertTx(tx: Uint8Array): { readonly code: 0 | 1 };
  /** Pool transactions for peers, best first, within both limits. */
  reapTxs(limits: { readonly maxBytes: number; readonly maxGas: bigint }): Uint8Array[];
  /** The contents of the next block, proposer data first. Never fails: with trouble the block is empty. */
  prepareProposal(proposal: Proposal & { readonly maxTxBytes: number }): Uint8Array[];
  /** True when every element is valid in this order. Looks at nothing but `input` and the state. */
  processProposal(input: BlockInput): boolean;
  /** Executes a decided block; nothing is kept before `commit`. */
  finalizeBlock(input: BlockInput): BlockResult;
  /** Returns when the finalized block is on disk to stay; then it is published. */
  commit(): { readonly retainHeight: number };
  /** The engine went away: what was proposed and finalized but not committed is forgotten. */
  engineLost(): void;
}
