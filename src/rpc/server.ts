import { createAccessPolicy, type MethodRules } from "./access.ts";
import type { Authenticate } from "./auth/authenticator.ts";
import { createDispatcher } from "./dispatcher.ts";
import type { HttpModules } from "./http.ts";
import { type Listener, type ListenerOptions, listenHttp } from "./http.ts";
import { listenIpc } from "./ipc.ts";
import { DEFAULT_RPC_LIMITS, type RpcLimits } from "./limits.ts";
import type { Registry } from "./method.ts";
import { type RpcObserver, SILENT_OBSERVER } from "./observer.ts";
import { DEFAULT_ALLOWED_HOSTS, DEFAULT_ALLOWED_ORIGINS } from "./origin.ts";
import { createWsAcceptor, type WsAcceptor } from "./ws.ts";

export type RpcServerOptions = {
  /** Each absent one does not listen. HTTP takes WebSocket upgrades too. */
  readonly http?: EndpointOptions;
  readonly ws?: EndpointOptions;
  readonly ipc?: { readonly path: string };
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  readonly limits?: Partial<RpcLimits>;
  /** Answer plain calls without node:http; true if not given. */
  readonly fastHttp?: boolean;
};

export type EndpointOptions = {
  readonly host: string;
  /** 0: any free port */
  readonly port: number;
  readonly namespaces: Iterable<string>;
  /** Private methods need no credential here: a dev chain. */
  readonly isOpen?: boolean;
  /** Narrow the namespaces down to single methods. */
  readonly methods?: MethodRules;
};

export type RpcServerModules<Modules> = {
  readonly registry: Registry<Modules>;
  readonly modules: Modules;
  readonly observer?: RpcObserver;
  readonly authenticate?: Authenticate;
  readonly otherRequest?: NonNullable<HttpModules["otherRequest"]>;
};

export type RpcServer = {
  /** Where each transport listens, with the real port. */
  readonly urls: { readonly http?: string; readonly ws?: string; readonly ipc?: string };
  /** Stops accepting, lets running calls end, then cuts. */
  close(graceMs?: number): Promise<void>;
};

/**
 * Starts every listener asked for around one dispatcher. When one cannot listen, those that already do are closed again.
 *
 * @throws Error of the operating system (EADDRINUSE …), IpcPathTooLongError, IpcPathInUseError
 */
export async function startRpcServer<Modules>(
  options: RpcServerOptions,
  modules: RpcServerModules<Modules>,
): Promise<RpcServer> {
  const limits: RpcLimits = { ...DEFAULT_RPC_LIMITS, ...options.limits };
  const observer = modules.observer ?? SILENT_OBSERVER;
  const dispatcher = createDispatcher({ limits, observer }, modules);
  const listenerModules = {
    dispatcher,
    observer,
    ...(modules.authenticate && { authenticate: modules.authenticate }),
  };
  const listeners: Listener[] = [];
  const acceptors: WsAcceptor[] = [];
  const urls: { http?: string; ws?: string; ipc?: string } = {};

  async function close(graceMs?: number): Promise<void> {
    await Promise.all([...listeners, ...acceptors].map((open) => open.close(graceMs)));
  }

  async function listenTcp(endpoint: EndpointOptions, servesCalls: boolean): Promise<string> {
    const listenerOptions: ListenerOptions = {
      host: endpoint.host,
      port: endpoint.port,
      access: createAccessPolicy(endpoint, modules.registry.keys()),
      allowedHosts: options.allowedHosts ?? DEFAULT_ALLOWED_HOSTS,
      allowedOrigins: options.allowedOrigins ?? DEFAULT_ALLOWED_ORIGINS,
      limits,
      ...(options.fastHttp !== undefined && { fastHttp: options.fastHttp }),
    };
    const acceptor = createWsAcceptor(listenerOptions, listenerModules);
    acceptors.push(acceptor);
    const listener = await listenHttp(listenerOptions, {
      ...listenerModules,
      acceptUpgrade: acceptor.acceptUpgrade,
      servesCalls,
      ...(modules.otherRequest && { otherRequest: modules.otherRequest }),
    });
    listeners.push(listener);
    return listener.url;
  }

  try {
    if (options.http) urls.http = await listenTcp(options.http, true);
    if (options.ws) urls.ws = await listenTcp(options.ws, false);
    if (options.ipc) {
      const namespaces = [...modules.registry.keys()].map((name) => name.split("_", 1)[0]!);
      const ipc = await listenIpc(
        {
          path: options.ipc.path,
          access: { namespaces: new Set(namespaces), isOpen: true },
          limits,
        },
        listenerModules,
      );
      listeners.push(ipc);
      urls.ipc = ipc.url;
    }
  } catch (error) {
    await close(0);
    throw error;
  }
  return { urls, close };
}
