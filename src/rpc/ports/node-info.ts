import type { Address } from "../../primitives/address.ts";

/** What the node says about itself. */
export interface NodeInfo {
  /** `Name/version/os-arch/runtime` */
  readonly clientVersion: string;
  /** In decimal on the wire; equals the chain id unless the genesis says otherwise. */
  readonly networkId: bigint;
  /** devp2p `eth` version this node would speak. */
  readonly protocolVersion: number;
  peerCount(): number;
  isListening(): boolean;
  /** Who receives the fees of the blocks this node makes. */
  coinbase(): Address;
  /** This node makes the next block. */
  isValidator(): boolean;
  /** undefined: the node has every block it knows of */
  syncProgress(): SyncProgress | undefined;
}

export type SyncProgress = {
  readonly startingBlock: number;
  readonly currentBlock: number;
  readonly highestBlock: number;
};
