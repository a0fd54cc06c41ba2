import type { MethodRules } from "./access.ts";

export type TcpKind = "http" | "ws";

export type EndpointOptions = {
  readonly host: string;
  /** 0: any free port */
  readonly port: number;
  readonly namespaces: Iterable<string>;
  /** Private methods need no credential here: a dev chain. */
  readonly isOpen?: boolean;
  /** Narrow the namespaces down to single methods. */
  readonly methods?: MethodRules;
  /** In place of the server's. */
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
};
