import type { Address } from "../../base/primitives/address.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { NodeAdmin } from "./admin.ts";
import type { DappStore } from "./dapp-store.ts";
import type { DevChainInfo } from "./dev-info.ts";
import type { MinerSettings } from "./miner.ts";
import type { ValidatorVoting } from "./voting.ts";

/** The node's reports, and the settings its operator may change. Plain data only. */
export interface NodePort extends NodeAdmin, MinerSettings, DappStore, ValidatorVoting {
  info(): MaybePromise<NodeInfo>;
  /** Whether the node serves its chain and makes blocks. */
  readiness(): MaybePromise<Readiness>;
  /** For the methods of dev chains. */
  devChain(): MaybePromise<DevChainInfo>;
}

/** What `/readyz` answers: ready, or why not. */
export type Readiness = {
  readonly ready: boolean;
  readonly head: number;
  readonly reason?: string;
};

/** What the node reports to everyone. */
export type NodeInfo = {
  /** `Name/version/os-arch/runtime` */
  readonly clientVersion: string;
  /** In decimal on the wire; equals the chain id unless the genesis says otherwise. */
  readonly networkId: bigint;
  /** devp2p `eth` version this node would speak. */
  readonly protocolVersion: number;
  readonly peerCount: number;
  readonly isListening: boolean;
  /** Fee recipient of the blocks this node builds. */
  readonly coinbase: Address;
  /** This node builds the next block. */
  readonly isValidator: boolean;
  /** undefined: the node has every block it knows of */
  readonly syncProgress: SyncProgress | undefined;
};

export type SyncProgress = {
  readonly startingBlock: number;
  readonly currentBlock: number;
  readonly highestBlock: number;
};
