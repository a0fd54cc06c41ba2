import type { CallLimits } from "../../adapters/rpc-settings.ts";
import type { FollowedStore } from "../../chain/store/follow/published-head.ts";
import type { ChainConfig } from "../../params/chain-config.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { ErrorData } from "../../rpc/ports/channel/protocol.ts";
import type { ExecutionReads } from "../../rpc/ports/execution.ts";
import type { StateChanges } from "../../state/reader.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import type { ModuleRequest } from "./requested-modules.ts";

/** What an execution thread is started with. */
export type ExecutionThreadData = {
  readonly store: FollowedStore;
  readonly config: ChainConfig;
  readonly genesisHash: Hash;
  readonly limits: CallLimits;
  /** The tip suggested while no block has one, in wei; the oracle's own if undefined. */
  readonly startPrice: bigint | undefined;
  /** Contracts that are hot run compiled. */
  readonly compiles: boolean;
};

/** The pending block as data: its state is `changes` over the state of its parent. */
export type PendingBlockData = {
  readonly executed: Pick<ExecutedBlock, "block" | "senders">;
  readonly changes: StateChanges;
};

export type ExecutionRequest = {
  readonly method: keyof ExecutionReads;
  readonly args: readonly unknown[];
  /** Present for a request on the pending block, where there is one. */
  readonly pending?: PendingBlockData;
};

/** @property epoch of the store, as it was when the thread read it: after a rollback the outcome is of a chain that is gone */
export type ExecutionReply =
  | { readonly kind: "ready" }
  | { readonly kind: "compile"; readonly request: ModuleRequest }
  | { readonly kind: "result"; readonly epoch: number; readonly value: unknown }
  | { readonly kind: "error"; readonly epoch: number; readonly error: ErrorData };
