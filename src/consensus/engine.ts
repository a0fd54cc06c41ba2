import { NodeError } from "../errors.ts";
import type { Hash } from "../primitives/hash.ts";

/** Decides order and time of blocks, and drives the application with them. */
export type Engine = {
  start(): void | Promise<void>;
  /** Nothing calls the application any more once this is done. */
  stop(): void | Promise<void>;
  /**
   * Makes one block now, empty or not; its hash.
   * @throws NetworkDecidesBlocksError
   */
  produceBlock(): Hash;
  /** The validators beside this process; undefined for the solo engine, which has none. */
  readonly network: EngineNetwork | undefined;
};

/** What an engine with a network knows of it. */
export type EngineNetwork = {
  /** Identity of this node among its peers, 40 hex digits. */
  readonly nodeId: string;
  status(): NetworkStatus;
  peers(): readonly NetworkPeer[];
  /** Connects to `id@host:port` and stays connected. @throws what the engine answers */
  addPeer(address: string): Promise<void>;
};

export type NetworkStatus = {
  readonly peerCount: number;
  /** Accepts connections of peers. */
  readonly isListening: boolean;
  /** `host:port` for peers. */
  readonly listenAddress: string;
  /** Takes part in the decision about the next block. */
  readonly isValidator: boolean;
  /** Fetches blocks that the others have already. */
  readonly isCatchingUp: boolean;
  /** Why there are no new blocks; undefined while there are. */
  readonly problem: string | undefined;
};

export type NetworkPeer = {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** `host:port` */
  readonly remoteAddress: string;
  readonly isInbound: boolean;
};

/** Blocks are decided by the validators together, never by one call. */
export class NetworkDecidesBlocksError extends NodeError {
  readonly code = "CONSENSUS_NETWORK_DECIDES";
  constructor() {
    super("the validators of the network decide the blocks of this chain");
  }
}
