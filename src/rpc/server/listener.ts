import type { Authenticate } from "../auth/authenticator.ts";
import type { AccessPolicy } from "../dispatch/context.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { RpcObserver } from "../dispatch/observer.ts";
import type { RpcLimits } from "./limits.ts";
import type { MemoryBudgets } from "./memory-budget.ts";

/** A listening socket. */
export type Listener = {
  readonly url: string;
  /** Stops accepting, lets running calls end for `graceMs`, then closes every connection. */
  close(graceMs?: number): Promise<void>;
};

/** What every listener needs. */
export type ListenerModules = {
  readonly dispatcher: Dispatcher;
  readonly observer: RpcObserver;
  readonly budgets: MemoryBudgets;
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
  /** TLS when present. */
  readonly tls?: TlsMaterial;
  /** Answer plain calls without node:http; true if absent. */
  readonly fastHttp?: boolean;
};

/** Certificate chain and private key, PEM. */
export type TlsMaterial = { readonly cert: string; readonly key: string };
