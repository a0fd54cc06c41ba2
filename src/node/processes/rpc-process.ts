import type { ChildProcess } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";
import { Channel, type ChannelMessage } from "../../base/threads/channel.ts";
import { andThen, type MaybePromise } from "../../base/threads/maybe-promise.ts";
import { Outbox } from "../../base/threads/message-lists.ts";
import { errorFromData } from "../../base/threads/plain-data.ts";
import { startProcess } from "../../base/threads/start-thread.ts";
import { pauseThread } from "../../chain/store/follow/store-follower.ts";
import type { RpcPorts } from "../../rpc/methods/rpc-ports.ts";
import { PortServer } from "../../rpc/ports/port-channel.ts";
import { ChainUnreachableError } from "../../rpc/transport/errors.ts";
import type { TcpKind, TlsMaterial } from "../../rpc/transport/server/listener.ts";
import type { Limits } from "../config/config.ts";
import { Beat } from "./beat.ts";
import { hasEnded } from "./ended-process.ts";
import { ProcessMessageError, ProcessMessages } from "./process-messages.ts";
import type { ChainHandlers, RpcProcessData, RpcProcessHandlers, Urgent } from "./protocol.ts";
import { ServedCalls, type ServedCallsModules } from "./served-calls.ts";
import type { SubmittedSenders } from "./submitted-senders.ts";

/** If a process does not report its metrics in this time, its previous ones are used. */
const METRICS_TIMEOUT_MS = 1_000;
/** Time to close connections, beyond the grace period of running calls. */
const SHUT_MARGIN_MS = 1_000;
const SHUT_GRACE_MS = 5_000;

const URGENT: Urgent = {};

type RpcProcessModules = ServedCallsModules & {
  readonly ports: RpcPorts;
  readonly log: Logger;
  readonly timers: Timers;
  readonly onReady: () => void;
  /** The process has ended, for whatever reason. */
  readonly onExit: (reason: string) => void;
  readonly onBadToken: (source: string) => void;
  readonly senders: Pick<SubmittedSenders, "of">;
  readonly onCalls: (calls: Parameters<ChainHandlers["calls"]>[0]) => void;
};

export class RpcProcess {
  /** Sends calls and events to the process. */
  readonly channel: Channel<RpcProcessHandlers>;
  readonly #child: ChildProcess;
  readonly #modules: RpcProcessModules;
  readonly #ports: PortServer;
  readonly #calls: ServedCalls;
  readonly #connections: Record<TcpKind, number> = { http: 0, ws: 0 };
  /**
   * Connections in transit to the process, by number. They stay open here until the process confirms them: Node.js sends one socket at a time,
   * and would keep the others open forever if the process died first.
   */
  readonly #onTheWay = new Map<number, Socket>();
  #nextSocket = 0;
  #exposition = "";
  /** Messages that wait until the process is open; undefined from then on. */
  #waiting: (readonly ChannelMessage[])[] | undefined = [];
  readonly #messages: ProcessMessages;
  readonly #limits: Limits;
  /** Whether it serves connections. */
  #isOpen = false;
  readonly #startTimer: Timer;
  #beat: Beat | undefined;
  /** It sent an invalid message: nothing more is accepted from it. */
  #isRefused = false;
  #isOver = false;

  constructor(data: RpcProcessData, modules: RpcProcessModules) {
    this.#modules = modules;
    this.#child = startProcess("node/roles/rpc.process");
    const outbox = new Outbox<ChannelMessage>((messages) => this.#send(messages), modules.timers, {
      isAfterTurn: true,
    });
    this.channel = new Channel((message, urgent) => {
      if (urgent === undefined) outbox.post(message);
      else this.#send([message], (urgent as Urgent).socket as Socket | undefined);
    });
    this.#ports = new PortServer(modules.ports, this.channel as Channel);
    this.#calls = new ServedCalls(modules, this.channel);
    const submit = this.#submitter();
    const handlers = { ...this.#ports.handlers, ...this.#calls.handlers, ...this.#handlers(), "chain.submit": submit };
    this.channel.serve(handlers);
    this.#messages = new ProcessMessages(Object.keys(handlers), data.config.rpcLimits.bodyBytesMax);
    // The first message signals that its program is loaded.
    this.#child.once("message", () => {
      this.#open(data);
      this.#child.on("message", (messages) => this.#receive(messages));
    });
    this.#limits = data.config.limits;
    this.#startTimer = modules.timers.after(this.#limits.processes.startMs, "start of an RPC process", () =>
      this.#giveUp("RPC process did not start in time"),
    );
    this.#child.on("error", (error) => modules.log.error("RPC process failed", { error }));
    this.#child.once("exit", (code, signal) => this.#ended(`${signal ?? code}`));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** It serves connections, or did so before it fell silent. */
  get isOpen(): boolean {
    return this.#isOpen && !this.#isOver && !this.#isRefused;
  }

  /** Whether it accepts connections. */
  get isReady(): boolean {
    return this.isOpen && this.#beat?.isSilent === false;
  }

  /** Connections of a listener that it received and has not closed. */
  connectionsOf(listener: TcpKind): number {
    return this.#connections[listener];
  }

  /** Opens a listener in the process, for later connections. */
  open(input: Parameters<RpcProcessHandlers["open"]>[0]): void {
    this.channel.emit("open", input, URGENT);
  }

  /** Sets the certificate of later connections. */
  setTls(tls: TlsMaterial): void {
    this.channel.emit("tls", tls, URGENT);
  }

  handOver(listener: TcpKind, socket: Socket): void {
    this.#connections[listener]++;
    const id = this.#nextSocket++;
    this.#onTheWay.set(id, socket);
    this.channel.emit("connection", { listener, id }, { socket } satisfies Urgent);
  }

  /** Settles once the listener's connections are closed, or the process was ended because they were not. */
  async shut(listener: TcpKind, graceMs = SHUT_GRACE_MS): Promise<void> {
    if (!this.isOpen) return;
    const onTimeout = () => {
      this.#modules.log.warn("RPC process did not close its connections in time", { listener });
      this.kill();
    };
    const timer = this.#after(graceMs + SHUT_MARGIN_MS, "end of an RPC process", onTimeout);
    await this.channel.call("shut", { listener, graceMs }).catch(() => {});
    timer.cancel();
  }

  /** The process's metrics in Prometheus' text form. */
  async exposition(): Promise<string> {
    if (!this.isReady) return this.#exposition;
    await new Promise<void>((resolve) => {
      const timer = this.#after(METRICS_TIMEOUT_MS, "metrics of an RPC process", resolve);
      const received = this.channel.call("metrics", undefined).then(
        (exposition: unknown) => {
          if (typeof exposition === "string") this.#exposition = exposition;
          else this.#refuse(new ProcessMessageError("metrics that are not text"));
        },
        () => {},
      );
      void received.finally(() => {
        timer.cancel();
        resolve();
      });
    });
    return this.#exposition;
  }

  /** Lets the process exit once idle; closes its connections. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    const exited = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    const timer = this.#after(SHUT_MARGIN_MS, "end of an RPC process", () => this.kill());
    if (this.#child.connected) this.#child.disconnect();
    await exited;
    timer.cancel();
  }

  #after(ms: number, where: string, work: () => void): Timer {
    return this.#modules.timers.after(ms, where, work, { keepsAlive: true });
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** An invalid message means that the process cannot be trusted: the node ends it, and the chain continues. */
  #receive(messages: unknown): void {
    if (this.#isRefused) return;
    try {
      for (const message of this.#messages.decode(messages)) this.channel.receive(message);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #refuse(error: unknown): void {
    this.#isRefused = true;
    this.#modules.log.error("RPC process is terminated because of its message", { process: this.pid, error });
    this.kill();
  }

  #handlers(): Pick<ChainHandlers, "ready" | "took" | "ended" | "badToken" | "calls" | "log"> {
    return {
      ready: () => {
        if (this.#isOpen) throw new ProcessMessageError("a second message that it is ready");
        this.#isOpen = true;
        this.#startTimer.cancel();
        this.#beat = this.#watched();
        this.#modules.onReady();
      },
      took: ({ id }) => {
        this.#onTheWay.get(id)?.destroy();
        this.#onTheWay.delete(id);
      },
      ended: ({ listener }) => {
        if (this.#connections[listener] === 0)
          throw new ProcessMessageError("the end of a connection that it does not have");
        this.#connections[listener]--;
      },
      badToken: ({ source }) => this.#modules.onBadToken(source),
      calls: (calls) => this.#modules.onCalls(calls),
      log: ({ level, message, data, error }) => {
        this.#modules.log[level](message, {
          ...data,
          ...(error && { error: errorFromData(error) }),
        });
      },
    };
  }

  /** Recovers the sender in this process; the RPC process's claim is not trusted. */
  #submitter(): (input: { readonly transaction: Uint8Array }) => MaybePromise<Hash> {
    const { ports, senders } = this.#modules;
    const submit = (transaction: Uint8Array, sender: Address | undefined) =>
      ports.chain.submit({ transaction, ...(sender && { sender }) });
    return ({ transaction }) => andThen(senders.of(transaction), (sender) => submit(transaction, sender));
  }

  #watched(): Beat {
    const { timers, log } = this.#modules;
    return new Beat(this.#limits.processes, {
      timers,
      ask: () => this.channel.call("beat", undefined),
      onSilent: () => log.warn("RPC process does not answer and gets no new connections", { process: this.pid }),
      onAnswer: () => {
        log.info("RPC process answers again", { process: this.pid });
        this.#modules.onReady();
      },
      onLost: () => this.#giveUp("RPC process is terminated because it does not answer"),
    });
  }

  #giveUp(message: string): void {
    this.#modules.log.error(message, { process: this.pid });
    this.kill();
  }

  /** Lets the process open the index while this process commits nothing: such a commit could be lost (`LmdbCommits`). */
  #open(data: RpcProcessData): void {
    const { opened } = data;
    rmSync(opened, { force: true });
    // Its `exit` event follows an error here, too.
    this.#child.send(data, () => {});
    const { openMs } = this.#limits.processes;
    const end = performance.now() + openMs;
    while (!existsSync(opened)) {
      // Its `exit` event follows.
      if (this.pid === undefined || hasEnded(this.pid)) return;
      if (performance.now() > end) {
        this.#modules.log.error("RPC process did not open the index in time", { ms: openMs });
        this.kill();
        return;
      }
      pauseThread();
    }
    rmSync(opened, { force: true });
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const messages of waiting) this.#send(messages);
  }

  #send(messages: readonly ChannelMessage[], socket?: Socket): void {
    if (this.#isOver || !this.#child.connected) return;
    if (this.#waiting !== undefined) {
      this.#waiting.push(messages);
      return;
    }
    // On an error the process exits, and its `exit` event follows.
    this.#child.send(messages as object, socket, { keepOpen: true }, () => {});
  }

  #ended(reason: string): void {
    this.#isOver = true;
    this.#startTimer.cancel();
    this.#beat?.stop();
    this.#connections.http = 0;
    this.#connections.ws = 0;
    for (const socket of this.#onTheWay.values()) socket.destroy();
    this.#onTheWay.clear();
    this.channel.close(() => new ChainUnreachableError());
    this.#ports.close();
    this.#calls.close();
    this.#modules.onExit(reason);
  }
}
