/** `node:net`: sockets between the processes of one machine. What is written arrives in a later turn, in order. */
import { EventEmitter } from "node:events";
import { Duplex } from "node:stream";
import { currentProcess } from "../kernel/current.ts";
import type { SimulatedProcess } from "../kernel/process.ts";

/** A socket that CometBFT and the node share holds some messages; what is larger is split. */
const BUFFER_BYTES = 1 << 20;
const TRAVEL_MS = 0.02;

export class Socket extends Duplex {
  #peer: Socket | undefined;
  readonly #owner: SimulatedProcess;
  #wanted: ((error?: Error | null) => void) | undefined;
  connecting = false;

  constructor(owner = currentProcess()) {
    super({ highWaterMark: BUFFER_BYTES, allowHalfOpen: false, autoDestroy: true, emitClose: true });
    this.#owner = owner;
    owner.onExit(() => this.#ended());
  }

  connectTo(peer: Socket): void {
    this.#peer = peer;
    peer.#peer = this;
  }

  override _read(): void {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    wanted?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const peer = this.#peer;
    if (peer === undefined || !peer.#owner.isAlive) {
      done(broken("EPIPE"));
      return;
    }
    this.#owner.simulation.trace.bytes(chunk);
    const owner = this.#owner;
    peer.#owner.after(TRAVEL_MS, () => {
      if (peer.destroyed) return;
      const answer = () => void (owner.isAlive && owner.after(0, () => done()));
      if (peer.push(Buffer.from(chunk))) answer();
      else peer.#wanted = answer;
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#tell((peer) => peer.push(null));
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#tell((peer) => peer.destroy());
    done(error);
  }

  /** Its process was killed: the system closes what it had open. */
  #ended(): void {
    this.#tell((peer) => peer.destroy());
    this.#peer = undefined;
  }

  #tell(what: (peer: Socket) => void): void {
    const peer = this.#peer;
    if (peer === undefined || !peer.#owner.isAlive) return;
    peer.#owner.after(TRAVEL_MS, () => peer.destroyed || what(peer));
  }

  setNoDelay = () => this;
  setKeepAlive = () => this;
  setTimeout = () => this;
  ref = () => this;
  unref = () => this;
}

export class Server extends EventEmitter {
  maxConnections = Number.POSITIVE_INFINITY;
  listening = false;
  readonly #onConnection: (socket: Socket) => void;
  readonly #process = currentProcess();
  readonly #sockets = new Set<Socket>();
  #path = "";
  #onClosed: (() => void) | undefined;

  constructor(onConnection: (socket: Socket) => void) {
    super();
    this.#onConnection = onConnection;
  }

  listen(path: string, done?: () => void): this {
    const { machine } = this.#process;
    this.#path = path;
    const target = (socket: unknown) => this.#accept(socket as Socket);
    this.#process.after(0, () => {
      if (machine.listeners.has(path)) {
        this.emit("error", Object.assign(new Error(`listen EADDRINUSE ${path}`), { code: "EADDRINUSE" }));
        return;
      }
      machine.listeners.set(path, { process: this.#process, target });
      this.listening = true;
      done?.();
      this.emit("listening");
    });
    return this;
  }

  /** Calls `done` once every connection has ended. */
  close(done?: () => void): this {
    const { listeners } = this.#process.machine;
    if (listeners.get(this.#path)?.process === this.#process) listeners.delete(this.#path);
    this.listening = false;
    this.#onClosed = done;
    this.#checkClosed();
    return this;
  }

  ref = () => this;
  unref = () => this;
  address = () => this.#path;

  #accept(client: Socket): void {
    if (this.#sockets.size >= this.maxConnections) return void client.destroy();
    const socket = new Socket(this.#process);
    this.#sockets.add(socket);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      this.#checkClosed();
    });
    client.connectTo(socket);
    this.#onConnection(socket);
  }

  #checkClosed(): void {
    if (this.listening || this.#sockets.size > 0) return;
    const done = this.#onClosed;
    this.#onClosed = undefined;
    if (done) this.#process.after(0, done);
  }
}

export function createServer(onConnection: (socket: Socket) => void): Server {
  return new Server(onConnection);
}

export function createConnection(target: string | { readonly path: string }, onConnect?: () => void): Socket {
  const path = typeof target === "string" ? target : target.path;
  const process = currentProcess();
  const socket = new Socket(process);
  const service = process.machine.listeners.get(path);
  if (service === undefined) {
    process.after(TRAVEL_MS, () => socket.destroy(broken("ECONNREFUSED")));
    return socket;
  }
  service.process.after(TRAVEL_MS, () => {
    service.target(socket);
    if (!process.isAlive) return;
    process.after(TRAVEL_MS, () => {
      onConnect?.();
      socket.emit("connect");
    });
  });
  return socket;
}

export const connect = createConnection;

export const isIP = (text: string) => (/^\d+\.\d+\.\d+\.\d+$/.test(text) ? 4 : text.includes(":") ? 6 : 0);
export const isIPv4 = (text: string) => isIP(text) === 4;
export const isIPv6 = (text: string) => isIP(text) === 6;

function broken(code: string): Error {
  return Object.assign(new Error(code), { code });
}
