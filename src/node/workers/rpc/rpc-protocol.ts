import type { FollowedStore } from "../../../chain/store/published-head.ts";
import type { Config } from "../../../config/config.ts";
import type { AdmittedCall, CallerIdentity } from "../../../les/port.ts";
import type { ChainConfig } from "../../../params/chain-config.ts";
import type { Hash } from "../../../primitives/hash.ts";
import type {
  ClientMessage,
  ErrorData,
  ServerMessage,
} from "../../../rpc/ports/channel/protocol.ts";
import type { JsonText } from "../../../rpc/transport/codec.ts";
import type { Transport } from "../../../rpc/transport/dispatch/context.ts";
import type { RawParams } from "../../../rpc/transport/dispatch/message.ts";
import type {
  EndpointOptions,
  TcpKind,
  TlsMaterial,
} from "../../../rpc/transport/server/listener.ts";
import type { LogLevel } from "../../../telemetry/logger.ts";
import type { ExecutedBlock } from "../../../types/block.ts";

/** What an RPC process is started with. */
export type RpcWorkerData = {
  readonly config: Config;
  readonly store: FollowedStore;
  readonly chainConfig: ChainConfig;
  readonly genesisHash: Hash;
  readonly jwtSecret: Uint8Array;
  readonly tls: TlsMaterial | undefined;
  /** Which of how many processes it is: its share of the limits. */
  readonly index: number;
  readonly count: number;
};

/** From the chain's process to an RPC process; each message is a list of these, in order. */
export type ToWorker =
  | { readonly kind: "start"; readonly data: RpcWorkerData }
  | { readonly kind: "open"; readonly listener: TcpKind; readonly endpoint: EndpointOptions }
  | { readonly kind: "shut"; readonly listener: TcpKind; readonly graceMs: number | undefined }
  /** Accompanied by the socket. */
  | { readonly kind: "connection"; readonly listener: TcpKind }
  /** A block became the head; it can be read from the store. */
  | { readonly kind: "head"; readonly number: number; readonly hash: Hash }
  /** @property epoch of the store after the removal */
  | { readonly kind: "removed"; readonly blocks: readonly ExecutedBlock[]; readonly epoch: number }
  | { readonly kind: "port"; readonly message: ServerMessage }
  | { readonly kind: "answer"; readonly id: number; readonly json: JsonText }
  | { readonly kind: "admitted"; readonly id: number; readonly call: AdmittedCall }
  | { readonly kind: "notAdmitted"; readonly id: number; readonly error: ErrorData }
  | { readonly kind: "failure"; readonly id: number; readonly error: ErrorData }
  | { readonly kind: "notify"; readonly connection: number; readonly messages: readonly string[] }
  | { readonly kind: "overrun"; readonly connection: number }
  | { readonly kind: "overCapacity"; readonly connection: number }
  | { readonly kind: "badToken"; readonly source: string }
  | { readonly kind: "metrics"; readonly id: number };

/** From an RPC process to the chain's; each message is a list of these, in order. */
export type FromWorker =
  | { readonly kind: "ready" }
  /** A listener is closed. */
  | { readonly kind: "shut"; readonly listener: TcpKind }
  /** Connections of a listener that ended. */
  | { readonly kind: "ended"; readonly listener: TcpKind; readonly connections: number }
  | { readonly kind: "port"; readonly message: ClientMessage }
  | {
      readonly kind: "call";
      readonly id: number;
      readonly method: string;
      readonly params: RawParams;
      readonly transport: Transport;
      /** undefined: HTTP */
      readonly connection: number | undefined;
    }
  /** Whether a call may run in the RPC process; an `admitted` one is ended by `charge`. */
  | {
      readonly kind: "admit";
      readonly id: number;
      readonly caller: CallerIdentity;
      readonly connection: number | undefined;
    }
  | { readonly kind: "charge"; readonly id: number; readonly cost: number }
  /** Nobody waits for the answer any more. */
  | { readonly kind: "abort"; readonly id: number }
  /** A connection that made calls is closed. */
  | { readonly kind: "gone"; readonly connection: number }
  | { readonly kind: "badToken"; readonly source: string }
  | {
      readonly kind: "log";
      readonly level: Exclude<LogLevel, "silent">;
      readonly message: string;
      readonly data: Readonly<Record<string, unknown>>;
      /** An error in `data` does not survive a message between processes. */
      readonly error: ErrorData | undefined;
    }
  | { readonly kind: "metrics"; readonly id: number; readonly exposition: string };
