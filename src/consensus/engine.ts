import { NodeError } from "../base/errors.ts";
import type { Address } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";
import type { Hex } from "../base/primitives/hex.ts";
import type { PeerSettings } from "./peer-lists.ts";

/** Decides order and time of blocks, and drives the application with them. */
export type Engine = {
  start(): void | Promise<void>;
  /** Afterwards the engine no longer calls the application. */
  stop(): void | Promise<void>;
  /**
   * Makes one block now, empty or not.
   * @returns the hash
   * @throws NetworkDecidesBlocksError
   */
  produceBlock(): Hash;
  /** The network of validators; undefined for the solo engine. */
  readonly network: EngineNetwork | undefined;
};

/** An engine's view of its network. */
export type EngineNetwork = {
  /** Peer id of this node, 40 hex digits. */
  readonly nodeId: string;
  status(): NetworkStatus;
  peers(): readonly NetworkPeer[];
  /**
   * The header of `height`, with its signatures and validators; undefined until it is decided.
   * @throws errors of the engine, for example for a height that it has removed
   */
  lightBlock(height: number): Promise<LightBlock | undefined>;
  /** The operator's decisions about peers, for the settings file. */
  peerSettings(): PeerSettings;
  /** Connects to `id@host:port` and keeps the connection. @throws errors of the engine */
  addPeer(address: string): Promise<void>;
  /** Disconnects the node with this id, which costs a restart of the engine, and rejects it from now on. */
  removePeer(id: string): void;
  /** Connects to `id@host:port` even if the peer limit is reached. @throws errors of the engine */
  trustPeer(address: string): Promise<void>;
  /** Ends the privilege at the next restart of the engine. */
  distrustPeer(id: string): void;
};

export type NetworkStatus = {
  readonly peerCount: number;
  /** Whether it accepts connections of peers. */
  readonly isListening: boolean;
  /** `host:port` for peers. */
  readonly listenAddress: string;
  /** Whether it takes part in deciding the next block. */
  readonly isValidator: boolean;
  /** The address with which this node signs, if it is a validator. */
  readonly validator: Address | undefined;
  /** Whether it fetches blocks that others already have. */
  readonly isCatchingUp: boolean;
  /** Undefined if unknown. */
  readonly step: ConsensusStep | undefined;
  /** Why there are no new blocks; undefined if there are. */
  readonly problem: string | undefined;
};

export type NetworkPeer = {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** `host:port` */
  readonly remoteAddress: string;
  readonly isInbound: boolean;
  readonly isTrusted: boolean;
  /** Whether this node stays connected to it. */
  readonly isStatic: boolean;
};

/** The engine's progress in deciding the next block. */
export type ConsensusStep = {
  readonly height: number;
  readonly round: number;
  /** CometBFT's number of the step: 1 new height, 2 new round, 3 propose, 4 and 5 prevote, 6 and 7 precommit, 8 commit. */
  readonly step: number;
};

/** The validators decide blocks together; a call to one node cannot. */
export class NetworkDecidesBlocksError extends NodeError {
  readonly code = "CONSENSUS_NETWORK_DECIDES";
  constructor() {
    super("the validators of the network decide this chain's blocks");
  }
}

/**
 * A CometBFT header with its signatures and validators, as in JSON-RPC: numbers are QUANTITY, the rest DATA. The app hash of height N + 1 is the
 * hash of block N. Source: CometBFT's light client specification.
 */
export type LightBlock = {
  readonly header: SignedHeader;
  readonly commit: {
    readonly height: Hex;
    readonly round: Hex;
    readonly blockId: BlockId;
    /** In the order of the validators; null for a validator that did not sign this header. */
    readonly signatures: readonly (CommitSignature | null)[];
  };
  readonly validators: readonly LightValidator[];
};

type SignedHeader = {
  readonly version: { readonly block: Hex; readonly app: Hex };
  readonly chainId: string;
  readonly height: Hex;
  readonly time: LightTime;
  readonly lastBlockId: BlockId;
  readonly lastCommitHash: Hex;
  readonly dataHash: Hex;
  readonly validatorsHash: Hex;
  readonly nextValidatorsHash: Hex;
  readonly consensusHash: Hex;
  readonly appHash: Hash;
  readonly lastResultsHash: Hex;
  readonly evidenceHash: Hex;
  readonly proposerAddress: Address;
};

/** @property hash empty in the header of the first height */
export type BlockId = {
  readonly hash: Hex;
  readonly parts: { readonly total: Hex; readonly hash: Hex };
};

export type LightTime = { readonly seconds: Hex; readonly nanos: Hex };

export type CommitSignature = {
  readonly validator: Address;
  readonly time: LightTime;
  /** r ‖ s ‖ v with v 0 or 1, over keccak256 of the vote */
  readonly signature: Hex;
};

export type LightValidator = {
  readonly address: Address;
  /** secp256k1eth, 33 bytes, compressed */
  readonly publicKey: Hex;
  readonly power: Hex;
};
