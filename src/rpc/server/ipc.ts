import { chmodSync, existsSync, unlinkSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { isMainThread } from "node:worker_threads";
import { NodeError } from "../../errors.ts";
import { OWNER } from "../auth/credential.ts";
import {
  type AccessPolicy,
  type Caller,
  type Connection,
  RequestContext,
} from "../dispatch/context.ts";
import type { Reply } from "../dispatch/dispatcher.ts";
import type { Listener, ListenerModules } from "./http.ts";
import { JsonStream } from "./json-stream.ts";
import type { RpcLimits } from "./limits.ts";

export type IpcOptions = {
  /** Of the Unix socket; whoever may write to it is trusted. */
  readonly path: string;
  readonly access: AccessPolicy;
  readonly limits: RpcLimits;
};

/** `sockaddr_un` holds 108 bytes on Linux, 104 elsewhere. */
const PATH_BYTES_MAX = 103;

/** The socket path does not fit the operating system's address structure. */
export class IpcPathTooLongError extends NodeError {
  readonly code = "IPC_PATH_TOO_LONG";
}

/** Another process listens there. */
export class IpcPathInUseError extends NodeError {
  readonly code = "IPC_PATH_IN_USE";
}

/**
 * Serves a stream of JSON-RPC messages over a Unix socket that only its owner may open. A socket left behind by a dead process
 * is replaced.
 *
 * @throws IpcPathTooLongError, IpcPathInUseError
 */
export async function listenIpc(options: IpcOptions, modules: ListenerModules): Promise<Listener> {
  const { path, limits } = options;
  const { observer } = modules;
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) {
    throw new IpcPathTooLongError(`ipc path longer than ${PATH_BYTES_MAX} bytes: ${path}`);
  }
  await removeStaleSocket(path);
  const connections = new Set<IpcConnection>();
  const server = createServer((socket) => {
    if (connections.size >= limits.ipcConnectionsMax) {
      observer.refused("ipc", "connections");
      socket.destroy();
      return;
    }
    const connection = new IpcConnection(socket, options, modules);
    connections.add(connection);
    observer.connections("ipc", connections.size);
    connection.onClose(() => {
      connections.delete(connection);
      observer.connections("ipc", connections.size);
    });
  });
  await listen(server, path);
  // Nobody else could open it before either: it was made under a mask.
  chmodSync(path, 0o600);
  return {
    url: path,
    close: (graceMs = 1000) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
          for (const connection of connections) connection.destroy();
        }, graceMs);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        for (const connection of connections) connection.end();
      }),
  };
}

class IpcConnection implements Connection {
  readonly #socket: Socket;
  readonly #options: IpcOptions;
  readonly #modules: ListenerModules;
  readonly #caller: Caller;
  readonly #stream: JsonStream;
  readonly #running = new Set<RequestContext>();
  readonly #closeTasks: (() => void)[] = [];
  #notificationBytes = 0;
  #isClosed = false;

  constructor(socket: Socket, options: IpcOptions, modules: ListenerModules) {
    this.#socket = socket;
    this.#options = options;
    this.#modules = modules;
    this.#stream = new JsonStream(options.limits.bodyBytesMax);
    this.#caller = {
      transport: "ipc",
      access: options.access,
      credential: OWNER,
      connection: this,
    };
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#closed());
  }

  notify(json: string): void {
    if (this.#isClosed) return;
    this.#notificationBytes += json.length;
    if (this.#notificationBytes > this.#options.limits.notificationBufferBytesMax) {
      this.#cut("notifications");
      return;
    }
    this.#socket.write(`${json}\n`, () => {
      this.#notificationBytes -= json.length;
    });
  }

  onClose(task: () => void): void {
    if (this.#isClosed) task();
    else this.#closeTasks.push(task);
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    const values = this.#stream.push(chunk);
    if (values === undefined) {
      this.#cut("message");
      return;
    }
    for (const value of values) this.#dispatch(value);
    this.#holdBack();
  }

  #dispatch(value: Buffer): void {
    const context = new RequestContext(this.#caller);
    const reply = this.#modules.dispatcher.dispatch(value, context);
    if (!(reply instanceof Promise)) {
      this.#reply(reply, context);
      return;
    }
    this.#running.add(context);
    void reply.then((done) => {
      this.#running.delete(context);
      this.#reply(done, context);
      this.#holdBack();
    });
  }

  #reply(reply: Reply | undefined, context: RequestContext): void {
    if (this.#isClosed) return;
    if (reply) {
      this.#socket.cork();
      for (const part of reply.parts) this.#socket.write(part);
      this.#socket.write("\n", () => this.#holdBack());
      this.#socket.uncork();
    }
    context.replied();
    if (reply?.isParseError) {
      this.end();
      return;
    }
    if (this.#socket.writableLength > this.#options.limits.socketSendBufferBytesMax) {
      this.#cut("sendBuffer");
    }
  }

  /** Reads on only while the client reads too and not too many of its calls are open. */
  #holdBack(): void {
    if (this.#isClosed) return;
    const { limits } = this.#options;
    const isBusy =
      this.#running.size >= limits.socketCallsMax ||
      this.#socket.writableLength > limits.socketPauseBytes;
    if (isBusy === this.#socket.isPaused()) return;
    if (isBusy) this.#socket.pause();
    else this.#socket.resume();
  }

  #cut(reason: string): void {
    this.#modules.observer.refused("ipc", reason);
    this.destroy();
    this.#closed();
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const context of this.#running) context.abort();
    for (const task of this.#closeTasks.splice(0)) task();
  }
}

async function removeStaleSocket(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const isAlive = await new Promise<boolean>((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", () => resolve(false));
  });
  if (isAlive) throw new IpcPathInUseError(`another process listens on ${path}`);
  unlinkSync(path);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    // The socket file is made before `listen` returns, with the mask of that moment.
    const mask = isMainThread ? process.umask(0o177) : undefined;
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
    if (mask !== undefined) process.umask(mask);
  });
}
