import type { Socket } from "node:net";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { SharedSlices } from "../../../base/threads/shared-slices.ts";
import type { Authenticate } from "../auth/authenticator.ts";
import { createAccessPolicy } from "../dispatch/access.ts";
import type { CallAdmission } from "../dispatch/call-admission.ts";
import { Dispatcher } from "../dispatch/dispatcher.ts";
import { namespaceOf, type Registry } from "../dispatch/method.ts";
import { type RpcObserver, SILENT_OBSERVER } from "../dispatch/observer.ts";
import { DEFAULT_RPC_LIMITS, type RpcLimits } from "../limits.ts";
import { MemoryBudget } from "../memory-budget.ts";
import { listenHttp } from "./http-listener.ts";
import { endWithRejection } from "./http-rejection.ts";
import type { OtherRequest } from "./http-request.ts";
import { listenIpc } from "./ipc.ts";
import type {
  ConnectionWorkers,
  EndpointOptions,
  Listener,
  TcpKind,
  TcpListener,
  TcpListenerOptions,
  TlsMaterial,
} from "./listener.ts";
import { DEFAULT_ALLOWED_HOSTS, DEFAULT_ALLOWED_ORIGINS } from "./origin.ts";
import { createWsAcceptor, type WsAcceptor } from "./ws.ts";

export type RpcServerOptions = {
  /** An absent one does not listen. The HTTP port accepts WebSocket upgrades too. */
  readonly http?: EndpointOptions;
  readonly ws?: EndpointOptions;
  readonly ipc?: { readonly path: string };
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  readonly limits?: Partial<RpcLimits>;
  /** Bodies need no `content-type` of JSON, without which a page of another origin could call unasked. */
  readonly takesAnyContentType?: boolean;
  /** Speaks TLS on every TCP port. */
  readonly tls?: TlsMaterial;
  /** Answer plain calls without node:http; true if absent. */
  readonly fastHttp?: boolean;
  /** TCP connections are accepted by another process and come through `accept`. */
  readonly isHanded?: boolean;
};

export type RpcServerModules<Modules> = {
  readonly registry: Registry<Modules>;
  readonly modules: Modules;
  readonly timers: Timers;
  readonly observer?: RpcObserver;
  readonly authenticate?: Authenticate;
  readonly admission?: CallAdmission;
  readonly otherRequest?: OtherRequest;
  readonly connectionWorkers?: ConnectionWorkers | undefined;
};

export type RpcServer = {
  /** Where each transport listens now, with the real port. */
  readonly urls: { readonly http?: string; readonly ws?: string; readonly ipc?: string };
  /** Opens the TCP listener of `kind`, which must not be open; its URL. WebSocket on the HTTP port is served again too. */
  open(kind: TcpKind, endpoint: EndpointOptions): Promise<string>;
  /** Closes the listener of `kind`, if it is open. WebSocket ends on the HTTP port too. */
  shut(kind: TcpKind, graceMs?: number): Promise<void>;
  /** Sets TLS for new connections of TLS listeners; open connections are not changed. */
  setTls(tls: TlsMaterial): void;
  /** Serves a connection of the open listener of `kind`; destroys it if there is no such listener. */
  accept(kind: TcpKind, socket: Socket): void;
  /** Stops accepting, lets running calls end, then cuts. */
  close(graceMs?: number): Promise<void>;
};

/** Of one turn of the event loop, so that clients that send calls without waiting for answers leave room for others. */
const PIPELINED_MS_MAX = 2;

/** A TCP listener and what accepts its WebSocket upgrades, if they are served. */
type OpenTcpListener = {
  readonly listener: TcpListener;
  readonly options: TcpListenerOptions;
  acceptor: WsAcceptor | undefined;
};

/**
 * Starts every requested listener around one dispatcher. If one cannot listen, the others are closed again.
 *
 * @throws Error of the operating system (EADDRINUSE …), IpcPathTooLongError, IpcPathInUseError
 */
export async function startRpcServer<Modules>(
  options: RpcServerOptions,
  modules: RpcServerModules<Modules>,
): Promise<RpcServer> {
  const limits: RpcLimits = { ...DEFAULT_RPC_LIMITS, ...options.limits };
  const observer = modules.observer ?? SILENT_OBSERVER;
  const budgets = {
    input: new MemoryBudget(limits.inputBytesMax, (bytes) => observer.memory("input", bytes)),
    output: new MemoryBudget(limits.outputBytesMax, (bytes) => observer.memory("output", bytes)),
  };
  const { output } = budgets;
  const { timers } = modules;
  const listenerModules = {
    dispatcher: new Dispatcher({ limits, observer, output }, modules),
    observer,
    budgets,
    pipelined: new SharedSlices(timers, { sliceMs: PIPELINED_MS_MAX }),
    timers,
    ...(modules.authenticate && { authenticate: modules.authenticate }),
  };
  let { tls } = options;
  const tcp: { http?: OpenTcpListener; ws?: OpenTcpListener } = {};
  let ipc: Listener | undefined;
  const { connectionWorkers } = modules;

  async function open(kind: TcpKind, endpoint: EndpointOptions): Promise<string> {
    const listenerOptions: TcpListenerOptions = {
      host: endpoint.host,
      port: endpoint.port,
      access: createAccessPolicy(endpoint, modules.registry.keys()),
      allowedHosts: endpoint.allowedHosts ?? options.allowedHosts ?? DEFAULT_ALLOWED_HOSTS,
      allowedOrigins: endpoint.allowedOrigins ?? options.allowedOrigins ?? DEFAULT_ALLOWED_ORIGINS,
      limits,
      takesAnyContentType: options.takesAnyContentType,
      ...(tls && { tls }),
      ...(options.fastHttp !== undefined && { fastHttp: options.fastHttp }),
      connectionWorkers,
      isHanded: options.isHanded === true,
    };
    connectionWorkers?.opened(kind, endpoint);
    const listener = await listenHttp(listenerOptions, {
      ...listenerModules,
      acceptUpgrade(request, socket, head) {
        const acceptor = tcp[kind]?.acceptor;
        if (acceptor) acceptor.acceptUpgrade(request, socket, head);
        else endWithRejection(socket, { status: 404, reason: "upgrade", message: "not found" }, timers);
      },
      servesCalls: kind === "http",
      ...(modules.otherRequest && { otherRequest: modules.otherRequest }),
    }).catch((error) => {
      void connectionWorkers?.shut(kind, 0);
      throw error;
    });
    const acceptor = createWsAcceptor(listenerOptions, listenerModules);
    tcp[kind] = { listener, options: listenerOptions, acceptor };
    if (kind === "ws" && tcp.http && !tcp.http.acceptor) {
      tcp.http.acceptor = createWsAcceptor(tcp.http.options, listenerModules);
    }
    return listener.url;
  }

  async function shut(kind: TcpKind, graceMs?: number): Promise<void> {
    const closing: (Promise<void> | undefined)[] = [];
    const gone = tcp[kind];
    delete tcp[kind];
    closing.push(gone?.listener.close(graceMs), gone?.acceptor?.close(graceMs));
    if (gone) closing.push(connectionWorkers?.shut(kind, graceMs));
    if (kind === "ws" && tcp.http) {
      closing.push(tcp.http.acceptor?.close(graceMs));
      tcp.http.acceptor = undefined;
    }
    await Promise.all(closing);
  }

  async function close(graceMs?: number): Promise<void> {
    await Promise.all([shut("http", graceMs), shut("ws", graceMs), ipc?.close(graceMs)]);
  }

  try {
    if (options.http) await open("http", options.http);
    if (options.ws) await open("ws", options.ws);
    if (options.ipc) {
      const namespaces = new Set([...modules.registry.keys()].map(namespaceOf));
      ipc = await listenIpc({ path: options.ipc.path, access: { namespaces, isOpen: true }, limits }, listenerModules);
    }
  } catch (error) {
    await close(0);
    throw error;
  }
  return {
    get urls() {
      return {
        ...(tcp.http && { http: tcp.http.listener.url }),
        ...(tcp.ws && { ws: tcp.ws.listener.url }),
        ...(ipc && { ipc: ipc.url }),
      };
    },
    open,
    accept(kind, socket) {
      const listener = tcp[kind]?.listener;
      if (listener) listener.accept(socket);
      else socket.destroy();
    },
    setTls(material) {
      tls = material;
      for (const { listener } of Object.values(tcp)) listener.setTls(material);
    },
    shut,
    close,
  };
}
