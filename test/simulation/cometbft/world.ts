import type { Socket } from "node:net";
import type { AbciEvent } from "./contract/abci-contract.ts";
import type { HostileKind } from "./hostility.ts";
import type { PeerMessage } from "./messages.ts";
import type { SigningKeys } from "./signing-keys.ts";

/**
 * Everything that the model of CometBFT has of the world beside `node:fs`. Calls of `World` never call back before they return: whatever they cause
 * comes as an event of its own, because the process that it belongs to may be dead by then.
 */
export type World = {
  /** A number in [0, 1). */
  random(): number;
  stdout(line: string): void;
  stderr(line: string): void;
  /** Ends the process: no code of it runs again. */
  exit(code: number): void;
  onSignal(listener: (signal: "SIGTERM") => void): void;
  peers(own: { readonly id: string; readonly listen: string }, events: PeerEvents): PeerNetwork;
  /** Serves HTTP at `unix://PATH` or `tcp://HOST:PORT`: one call, one answer. */
  serveHttp(address: string, handler: HttpHandler): void;
  /** Those of all validators of the simulation. */
  readonly keys: SigningKeys;
  /** How the node works against the others at present; not at all by default. */
  readonly hostile?: () => ReadonlySet<HostileKind>;
  /** Transactions that the node sends its peers without having them, as a dishonest peer does; none by default. */
  readonly gossip?: () => readonly Uint8Array[];
  /** Sees what engine and application say to each other. @param connection 0 to 3, in the order in which they open */
  observeAbci?(connection: number, event: AbciEvent): void;
  /** Clock, timers and sockets; those of Node.js by default. */
  readonly system?: System;
};

export type HttpRequest = { readonly method: string; readonly path: string; readonly body: string };
export type HttpHandler = (request: HttpRequest) => Promise<{ readonly status: number; readonly body: string }>;

/** Connections to other nodes. One can break at any moment, and messages can be lost, doubled, delayed and reordered. */
export interface PeerNetwork {
  /** @param address `id@host:port`; nothing is reported where it fails */
  dial(address: string): void;
  /** @param message is not changed by anyone: all nodes share the same objects */
  send(id: string, message: PeerMessage): void;
  disconnect(id: string): void;
}

export type PeerEvents = {
  connected(id: string, outbound: boolean): void;
  disconnected(id: string): void;
  message(id: string, message: PeerMessage): void;
};

/** What a test replaces to run the model in virtual time. By default all of it is that of Node.js. */
export type System = {
  /** The wall clock, in milliseconds since 1970. */
  now(): number;
  /** Runs `task` once, `ms` from now. @returns cancels it */
  after(ms: number, task: () => void): () => void;
  /** Opens a unix socket or, for `host:port`, a TCP connection. */
  connect(address: string): SocketLike;
  /** Calls the RPC of another node. @param server as `rpc_servers` of the configuration has it. @throws Error */
  callRpc(server: string, method: string, params: object): Promise<unknown>;
};

/** The part of a socket that the ABCI client uses. */
export type SocketLike = Pick<Socket, "write" | "destroy"> & {
  on(event: "connect" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
};
