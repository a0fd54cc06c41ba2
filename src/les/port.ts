import type { Address } from "../primitives/address.ts";
import type { MaybePromise } from "../threads/maybe-promise.ts";
import type { Checkpoint } from "./checkpoints/checkpoint.ts";
import type { ClientId } from "./serving/client-id.ts";
import type { ClientInfo, ClientParameters, ServerInfo } from "./serving/light-clients.ts";

/** Service for light clients. Plain data only. */
export interface LesPort extends CheckpointReads, LightClientControl {}

/** Checkpoints and their proofs. */
export interface CheckpointReads {
  /** @throws NoCheckpointError */
  latestCheckpoint(): MaybePromise<Checkpoint>;
  /** @throws NoCheckpointError */
  checkpoint(input: { readonly index: number }): MaybePromise<Checkpoint>;
  /**
   * Nodes that prove the hash of block `number` under the `chtRoot` of section `index`.
   * @throws NoCheckpointError
   */
  proveHash(input: {
    readonly index: number;
    readonly number: number;
  }): MaybePromise<readonly Uint8Array[]>;
  /** undefined: no contract is configured */
  checkpointOracle(): MaybePromise<Address | undefined>;
}

/** Who is served, for what price. As `LightClients` has them. */
export interface LightClientControl {
  serverInfo(): MaybePromise<ServerInfo>;
  clientInfo(input: {
    readonly ids: readonly ClientId[];
  }): MaybePromise<readonly (readonly [ClientId, ClientInfo])[]>;
  priorityClientInfo(input: {
    readonly start: ClientId;
    readonly stop: ClientId | undefined;
    readonly maxCount: number;
  }): MaybePromise<readonly (readonly [ClientId, ClientInfo | undefined])[]>;
  /** @throws BalanceOverflowError */
  addBalance(input: {
    readonly id: ClientId;
    readonly amount: bigint;
    readonly meta: string | undefined;
  }): MaybePromise<{ readonly before: bigint; readonly after: bigint }>;
  /** @throws ClientNotConnectedError, ClientParameterError, PriorityTooLowError */
  setClientParameters(input: {
    readonly ids: readonly ClientId[];
    readonly parameters: ClientParameters;
  }): MaybePromise<void>;
  /** @throws ClientParameterError */
  setDefaultParameters(input: { readonly parameters: ClientParameters }): MaybePromise<void>;
  setConnectedBias(input: { readonly ns: number }): MaybePromise<void>;
  /** @throws ClientNotConnectedError */
  freeze(input: { readonly id: ClientId }): MaybePromise<void>;
}
