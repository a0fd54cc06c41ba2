import { chmodSync, existsSync, unlinkSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { isMainThread } from "node:worker_threads";
import { NodeError } from "../../../base/errors.ts";
import { OWNER } from "../auth/credential.ts";
import type { AccessPolicy } from "../dispatch/context.ts";
import type { Reply } from "../dispatch/dispatcher.ts";
import type { RpcLimits } from "../limits.ts";
import { LINGER_MS } from "./http-rejection.ts";
import { JsonStream } from "./json-stream.ts";
import type { Listener, ListenerModules } from "./listener.ts";
import type { Piece } from "./send-queue.ts";
import { SocketConnection } from "./socket-connection.ts";

export type IpcOptions = {
  /** Of the Unix socket; processes that may write to it are trusted. */
  readonly path: string;
  readonly access: AccessPolicy;
  readonly limits: RpcLimits;
};

/** `sockaddr_un` holds 108 bytes on Linux, 104 elsewhere. */
const PATH_BYTES_MAX = 103;

/** The socket path does not fit the operating system's address structure. */
class IpcPathTooLongError extends NodeError {
  readonly code = "IPC_PATH_TOO_LONG";
}

/** Another process listens there. */
class IpcPathInUseError extends NodeError {
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
      observer.rejected("ipc", "connections");
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
  // No one else could open it before either: it was made under a mask.
  chmodSync(path, 0o600);
  return {
    url: path,
    close: (graceMs = 1000) =>
      new Promise((resolve) => {
        const timer = modules.timers.after(graceMs, "end of IPC", () => {
          for (const connection of connections) connection.destroy();
        });
        server.close(() => {
          timer.cancel();
          resolve();
        });
        for (const connection of connections) connection.end();
      }),
  };
}

class IpcConnection extends SocketConnection {
  readonly #stream: JsonStream;

  constructor(socket: Socket, { access, limits }: IpcOptions, modules: ListenerModules) {
    super(socket, { transport: "ipc", access, credential: OWNER }, limits, modules);
    this.#stream = new JsonStream(limits.bodyBytesMax);
    socket.on("data", (chunk) => this.#read(chunk));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.closed());
  }

  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  protected writeReply({ parts }: Reply, written: () => void): void {
    this.socket.cork();
    for (const part of parts) this.socket.write(part);
    this.socket.write("\n", written);
    this.socket.uncork();
  }

  protected framedPieces(pieces: readonly Piece[]): Piece[] {
    return [...pieces, [Buffer.from("\n")]];
  }

  protected framed(messages: readonly string[]): string {
    return `${messages.join("\n")}\n`;
  }

  protected isOpen(): boolean {
    return this.socket.writable;
  }

  protected pauseReading(): void {
    this.socket.pause();
  }

  protected resumeReading(): void {
    this.socket.resume();
  }

  protected closeAfterParseError(): void {
    this.socket.resume();
    this.end();
    this.modules.timers.after(LINGER_MS, "closing IPC", () => this.destroy());
  }

  protected closeFor(): void {
    this.destroy();
  }

  #read(chunk: Buffer): void {
    this.readBegins();
    const values = this.#stream.push(chunk);
    if (values === undefined) {
      this.cut("message");
      return;
    }
    for (const value of values) this.received(value);
    this.progressed(this.#stream.message, this.#stream.heldBytes);
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
    // The socket file is created before `listen` returns, with the current mask.
    const mask = isMainThread ? process.umask(0o177) : undefined;
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
    if (mask !== undefined) process.umask(mask);
  });
}
