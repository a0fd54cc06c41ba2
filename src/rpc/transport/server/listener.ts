import type { Socket } from "node:net";
import type { Timers } from "../../../base/telemetry/timers.ts";
import type { SharedSlices } from "../../../base/threads/shared-slices.ts";
import type { Authenticate } from "../auth/authenticator.ts";
import type { MethodRules } from "../dispatch/access.ts";
import type { AccessPolicy } from "../dispatch/context.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { RpcObserver } from "../dispatch/observer.ts";
import type { RpcLimits } from "../limits.ts";
import type { MemoryBudgets } from "../memory-budget.ts";

/** A listening socket. */
export type Listener = {
  readonly url: string;
  /** Stops accepting, lets running calls end for `graceMs`, then closes every connection. */
  close(graceMs?: number): Promise<void>;
};

/** A listener of TCP connections. */
export type TcpListener = Listener & {
  /** Serves a connection that was accepted elsewhere. */
  accept(socket: Socket): void;
  /** Of connections that come from now on, where the listener speaks TLS. */
  setTls(tls: TlsMaterial): void;
};

/** What every listener needs. */
export type ListenerModules = {
  readonly dispatcher: Pick<Dispatcher<unknown>, "dispatch" | "beforeWork">;
  readonly observer: RpcObserver;
  readonly budgets: MemoryBudgets;
  /** For calls that arrived behind another one of the same read. */
  readonly pipelined: SharedSlices;
  readonly timers: Timers;
  /** Absent: no caller is ever authenticated. */
  readonly authenticate?: Authenticate;
};

/** A TCP listener for HTTP, WebSocket or both. */
export type TcpListenerOptions = {
  readonly host: string;
  /** 0: any free port */
  readonly port: number;
  readonly access: AccessPolicy;
  /** Host names besides IP literals, see `isHostAllowed`. */
  readonly allowedHosts: readonly string[];
  /** Origins of web pages that may call, see `isOriginAllowed`. */
  readonly allowedOrigins: readonly string[];
  readonly limits: RpcLimits;
  /** A body needs no `content-type` of JSON. */
  readonly takesAnyContentType?: boolean | undefined;
  /** TLS when present. */
  readonly tls?: TlsMaterial;
  /** Answer plain calls without node:http; true if absent. */
  readonly fastHttp?: boolean;
  /** Serve new connections instead of this process, if they can. */
  readonly connectionWorkers?: ConnectionWorkers | undefined;
  /** Listens nowhere: another process accepts the connections, and they come through `accept`. */
  readonly isHanded?: boolean;
};

/** Certificate chain and private key, PEM. */
export type TlsMaterial = {
  readonly cert: string;
  readonly key: string;
  /** Clients need a certificate that one of these signed, whose own issuers are here up to the root. undefined: every client is served. */
  readonly clientCa: string | undefined;
};

/** Processes that serve the TCP connections which this one accepts. */
export interface ConnectionWorkers {
  /** The listener of `kind` is open: its connections are served as `endpoint` says. */
  opened(kind: TcpKind, endpoint: EndpointOptions): void;
  /** Hands a connection over that nothing was read from. False: no worker can take it, and it stays with the caller. */
  handOver(kind: TcpKind, socket: Socket): boolean;
  /** Ends all connections of this listener, after `graceMs` also those with running calls. */
  shut(kind: TcpKind, graceMs: number | undefined): Promise<void>;
}

export type TcpKind = "http" | "ws";

export type EndpointOptions = {
  readonly host: string;
  /** 0: any free port */
  readonly port: number;
  readonly namespaces: Iterable<string>;
  /** Private methods need no credential here: a dev chain. */
  readonly isOpen?: boolean;
  /** Every method needs a credential. */
  readonly isClosed?: boolean;
  /** Narrow the namespaces down to single methods. */
  readonly methods?: MethodRules;
  /** Replaces the server's. */
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
};
