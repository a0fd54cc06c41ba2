import type { Address } from "../../base/primitives/address.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { Checkpoint } from "./checkpoints/checkpoint.ts";
import { type ClientId, clientIdOf } from "./client-id.ts";
import { CapacityExceededError } from "./errors.ts";
import type {
  ClientConnection,
  ClientInfo,
  ClientParameters,
  LightClients,
  ServerInfo,
} from "./serving/light-clients.ts";

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
  proveHash(input: { readonly index: number; readonly number: number }): MaybePromise<readonly Uint8Array[]>;
  /** undefined: no contract is configured */
  checkpointOracle(): MaybePromise<Address | undefined>;
}

/** Control of clients and prices; see `LightClients`. */
export interface LightClientControl {
  serverInfo(): MaybePromise<ServerInfo>;
  clientInfo(input: { readonly ids: readonly ClientId[] }): MaybePromise<readonly (readonly [ClientId, ClientInfo])[]>;
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

/** The caller's identity as plain data. */
export type CallerIdentity = {
  readonly remoteAddress: string;
  /** Claimed, not verified. */
  readonly apiKey: string | undefined;
  /** The name in its certificate. */
  readonly certified: string | undefined;
  /** The subject of its token. */
  readonly subject: string | undefined;
};

/** An admitted call. */
export type AdmittedCall = {
  readonly client: ClientId;
  /** Milliseconds until it may run. */
  readonly waitMs: number;
  /** Higher is served first. */
  readonly priority: number;
  /** Cost units reserved for it until it is charged. */
  readonly reserved: number;
};

/** Admits and charges calls; implemented by the chain's process for the connections of all processes. */
export interface ServingPort {
  /** @throws CapacityExceededError */
  admit(caller: CallerIdentity, connection: ClientConnection | undefined): MaybePromise<AdmittedCall>;
  /** The call took `cost` units; 0: it did not run. Call it once for each admitted call. */
  charge(call: AdmittedCall, cost: number): void;
}

/** @param onLimited counts a call that was delayed or rejected */
export function createServingPort(
  clients: LightClients,
  onLimited: (kind: "delayed" | "rejected") => void,
): ServingPort {
  return {
    admit(caller, connection) {
      const client = clientOf(caller, clients);
      try {
        const waitMs = clients.admit(client, connection);
        if (waitMs > 0) onLimited("delayed");
        const priority = clients.priority(client);
        return { client, waitMs, priority, reserved: clients.reserve(client) };
      } catch (error) {
        if (error instanceof CapacityExceededError) onLimited("rejected");
        throw error;
      }
    },
    charge: ({ client, reserved }, cost) => clients.charge(client, cost, reserved),
  };
}

/**
 * The client to charge: the subject of its token, the name in its certificate, its API key, or its address. An API key counts only if the
 * operator gave it a balance: anyone can make up keys, and each would have a free client's capacity.
 */
function clientOf({ subject, certified, apiKey, remoteAddress }: CallerIdentity, clients: LightClients) {
  const name = subject ?? certified;
  if (name !== undefined) return clientIdOf("key", name);
  if (apiKey !== undefined) {
    const id = clientIdOf("key", apiKey);
    if (clients.isKnown(id)) return id;
  }
  return clientIdOf("ip", remoteAddress);
}
