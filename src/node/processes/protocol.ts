import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { LogLevel } from "../../base/telemetry/logger.ts";
import type { ServedCall } from "../../base/threads/channel.ts";
import type { ErrorData } from "../../base/threads/plain-data.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import type { FollowedStore } from "../../chain/store/follow/published-head.ts";
import type { AdmittedCall, CallerIdentity } from "../../heritage/les/port.ts";
import type { JsonText } from "../../rpc/transport/codec.ts";
import type { Transport } from "../../rpc/transport/dispatch/context.ts";
import type { RawParams } from "../../rpc/transport/dispatch/message.ts";
import type { EndpointOptions, TcpKind, TlsMaterial } from "../../rpc/transport/server/listener.ts";
import type { Config } from "../config/config.ts";
import type { CallRecord } from "../observe/activity/call-window.ts";

/** Start parameters of an RPC process: its first message, before the channel's. */
export type RpcProcessData = {
  readonly config: Config;
  readonly store: FollowedStore;
  /** A file that the process creates once it has opened the index: the chain's process blocks until then. */
  readonly opened: string;
  readonly chainConfig: ChainConfig;
  readonly genesisHash: Hash;
  readonly genesisTime: number;
  readonly tls: TlsMaterial | undefined;
  /** Index and number of processes, which determine its share of the limits. */
  readonly index: number;
  readonly count: number;
  /** Id of the chain's process, its parent. */
  readonly chainPid: number;
  /** The log shows single calls, so the process reports them. */
  readonly reportsCalls: boolean;
};

/** A call that the chain's process runs for an RPC process. */
export type ForwardedCall = {
  readonly method: string;
  readonly params: RawParams;
  readonly transport: Transport;
  /** undefined: HTTP */
  readonly connection: number | undefined;
  readonly address: string | undefined;
  /** Trace context of its span, if calls are traced. */
  readonly traceparent: string | undefined;
};

/** Sent at once, not with the other messages of the turn. */
export type Urgent = { readonly socket?: unknown };

/** What the chain's process offers to an RPC process besides its ports. A connection gets a number with its first call. */
export type ChainHandlers = {
  /** The process accepts connections. */
  ready(input: undefined): void;
  run(call: ForwardedCall, served: ServedCall): JsonText | Promise<JsonText>;
  /** Whether a call may run in the RPC process; `charge` ends it. @throws CapacityExceededError */
  admit(input: {
    readonly caller: CallerIdentity;
    readonly connection: number | undefined;
  }): Promise<{ readonly id: number; readonly call: AdmittedCall }>;
  charge(input: { readonly id: number; readonly cost: number }): void;
  /** A connection that made calls has closed. */
  gone(input: { readonly connection: number }): void;
  /** The process has received connection `id` of `connection`. */
  took(input: { readonly id: number }): void;
  ended(input: { readonly listener: TcpKind }): void;
  badToken(input: { readonly source: string }): void;
  /** Calls of an interval, grouped by equality; `more` are in none of the records. */
  calls(input: { readonly records: readonly CallRecord[]; readonly more: number }): void;
  log(line: {
    readonly level: Exclude<LogLevel, "silent">;
    readonly message: string;
    readonly data: Readonly<Record<string, unknown>>;
    /** An error in `data` does not survive a message between processes. */
    readonly error: ErrorData | undefined;
  }): void;
};

/** What an RPC process offers to the chain's process. */
export type RpcProcessHandlers = {
  open(input: { readonly listener: TcpKind; readonly endpoint: EndpointOptions }): void;
  /** Sets the certificate of later connections. */
  tls(input: TlsMaterial): void;
  /** Resolves once the listener's connections are closed. */
  shut(input: { readonly listener: TcpKind; readonly graceMs: number }): Promise<void>;
  /** The socket is attached; the process answers with `took`. */
  connection(input: { readonly listener: TcpKind; readonly id: number }, served: ServedCall): void;
  /** A block became the head; it can be read from the store. */
  head(input: { readonly number: number; readonly hash: Hash }): void;
  /** @param input.epoch of the store after the removal */
  removed(input: { readonly blocks: readonly ExecutedBlock[]; readonly epoch: number }): void;
  notify(input: { readonly connection: number; readonly messages: readonly string[] }): void;
  overrun(input: { readonly connection: number }): void;
  overCapacity(input: { readonly connection: number }): void;
  badToken(input: { readonly source: string }): void;
  /** Answered in the turn in which it arrives. */
  beat(input: undefined): void;
  /** The process's metrics in Prometheus' text form. */
  metrics(input: undefined): string;
};
