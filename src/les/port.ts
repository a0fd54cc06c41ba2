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
  checkpoint(index: number): MaybePromise<Checkpoint>;
  /**
   * Nodes that prove the hash of block `number` under the `chtRoot` of section `index`.
   * @throws NoCheckpointError
   */
  proveHash(index: number, number: number): MaybePromise<readonly Uint8Array[]>;
  /** undefined: no contract is configured */
  checkpointOracle(): MaybePromise<Address | undefined>;
}

/** Who is served, for what price. As `LightClients` has them. */
export interface LightClientControl {
  serverInfo(): MaybePromise<ServerInfo>;
  clientInfo(ids: readonly ClientId[]): MaybePromise<readonly (readonly [ClientId, ClientInfo])[]>;
  priorityClientInfo(
    start: ClientId,
    stop: ClientId | undefined,
    maxCount: number,
  ): MaybePromise<readonly (readonly [ClientId, ClientInfo | undefined])[]>;
  /** @throws BalanceOverflowError */
  addBalance(
    id: ClientId,
    amount: bigint,
    meta: string | undefined,
  ): MaybePromise<{ readonly before: bigint; readonly after: bigint }>;
  /** @throws ClientNotConnectedError, ClientParameterError, PriorityTooLowError */
  setClientParameters(ids: readonly ClientId[], parameters: ClientParameters): MaybePromise<void>;
  /** @throws ClientParameterError */
  setDefaultParameters(parameters: ClientParameters): MaybePromise<void>;
  setConnectedBias(ns: number): MaybePromise<void>;
  /** @throws ClientNotConnectedError */
  freeze(id: ClientId): MaybePromise<void>;
}
