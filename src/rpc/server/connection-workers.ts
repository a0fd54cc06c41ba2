import type { Socket } from "node:net";
import type { EndpointOptions, TcpKind } from "./endpoint.ts";

/** Processes that serve the TCP connections which this one accepts. */
export interface ConnectionWorkers {
  /** The listener of `kind` is open: its connections are served as `endpoint` says. */
  opened(kind: TcpKind, endpoint: EndpointOptions): void;
  /** Hands a connection over that nothing was read from. False: no worker can take it, and it stays with the caller. */
  handOver(kind: TcpKind, socket: Socket): boolean;
  /** Ends every connection of that listener, after `graceMs` also those with running calls. */
  shut(kind: TcpKind, graceMs: number | undefined): Promise<void>;
}
