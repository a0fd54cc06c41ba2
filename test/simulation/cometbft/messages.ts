import type { Block } from "./types/block.ts";
import type { DuplicateVotes } from "./types/evidence.ts";
import type { BlockId, Commit, Proposal, Vote, VoteType } from "./types/vote.ts";

/** What a node says of itself when a connection opens. A hostile one chooses every character. */
export type NodeInfo = {
  readonly id: string;
  readonly network: string;
  readonly moniker: string;
  readonly version: string;
  /** `tcp://host:port` */
  readonly listen: string;
};

/** Which votes of a round a node has: bits by index of the validator. */
export type KnownVotes = { readonly round: number; readonly prevote: bigint; readonly precommit: bigint };

/** Where a node is, and what it has: peers send what it lacks. */
export type RoundAnnouncement = {
  readonly kind: "round";
  readonly height: number;
  readonly round: number;
  readonly step: number;
  readonly hasProposal: boolean;
  /** The block that it waits for. */
  readonly wanted: string | undefined;
  readonly votes: readonly KnownVotes[];
  /** Its precommits for the last height; undefined if there are none yet. */
  readonly lastCommit: bigint | undefined;
  /** Blocks for which it has seen more than two thirds of the votes. */
  readonly majorities: readonly {
    readonly type: VoteType;
    readonly round: number;
    readonly blockId: BlockId | undefined;
  }[];
  /** Nodes it is connected to: what comes from one of them need not be sent on. */
  readonly neighbours: ReadonlySet<string>;
};

export type SnapshotOffer = {
  readonly height: number;
  readonly format: number;
  readonly chunks: number;
  readonly hash: Uint8Array;
  readonly metadata: Uint8Array;
};

type ChunkPosition = { readonly height: number; readonly format: number; readonly index: number };

/** All that nodes say to each other. `origin` is the node that a proposal or a vote comes from. */
export type PeerMessage =
  /** `isQuestion` while the sender has not heard who the other is. */
  | { readonly kind: "hello"; readonly info: NodeInfo; readonly isQuestion: boolean }
  | RoundAnnouncement
  | { readonly kind: "proposal"; readonly proposal: Proposal; readonly block: Block; readonly origin: string }
  /** The block that a peer waits for. */
  | { readonly kind: "wantedBlock"; readonly height: number; readonly round: number; readonly block: Block }
  | { readonly kind: "vote"; readonly vote: Vote; readonly origin: string }
  /** For a node at a height that is decided. */
  | { readonly kind: "decided"; readonly block: Block; readonly commit: Commit }
  | { readonly kind: "evidence"; readonly evidence: DuplicateVotes }
  | { readonly kind: "transactions"; readonly txs: readonly Uint8Array[] }
  | { readonly kind: "statusRequest" }
  | { readonly kind: "status"; readonly base: number; readonly height: number }
  | { readonly kind: "blockRequest"; readonly height: number }
  | { readonly kind: "block"; readonly block: Block }
  | { readonly kind: "noBlock"; readonly height: number }
  | { readonly kind: "snapshotsRequest" }
  | { readonly kind: "snapshots"; readonly snapshots: readonly SnapshotOffer[] }
  | ({ readonly kind: "chunkRequest" } & ChunkPosition)
  | ({ readonly kind: "chunk"; readonly chunk: Uint8Array; readonly isMissing: boolean } & ChunkPosition);
