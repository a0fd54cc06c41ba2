import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StormFailure } from "./failure.ts";
import type { HomeSettings } from "./home-settings.ts";
import type { Ledger } from "./ledger.ts";
import { Load } from "./load.ts";
import { type ArmedStep, assertEnded, killSame, NodeProcess, type ProcessId } from "./node-process.ts";
import { NoAnswerError } from "./rpc.ts";
import { SpeculationWatch } from "./speculation-watch.ts";

/** A node that makes no block for so long, though transactions wait, has failed: a loaded machine needs a tenth of it. Milliseconds. */
const BLOCK_MS_MAX = 300_000;
/** After the end of an RPC process, connections can be handed to it until that is noticed. Milliseconds. */
const UNNOTICED_MS_MAX = 300_000;

export type StormNodeOptions = {
  readonly home: string;
  /** Gets the log of all lives. */
  readonly logFile: string;
  readonly settings: HomeSettings;
  readonly ledger: Ledger;
  readonly random: () => number;
};

/** A node of the storm through all its lives: its home, its current process with its clients, and their answers. */
export class StormNode {
  readonly home: string;
  readonly ledger: Ledger;
  readonly #options: StormNodeOptions;
  readonly #flags: Record<string, string>;
  /** What became of transactions that threads executed ahead, over all lives. */
  readonly speculated: Record<string, number> = {};
  #watch: SpeculationWatch | undefined;
  #process: NodeProcess | undefined;
  #load: Load | undefined;
  /** Engines that outlived their node, until a start. */
  #leftovers: readonly ProcessId[] = [];
  /** Engines that outlived their node and that its next start killed. */
  leftovers = 0;
  /** From the last spawn to the first answer. Milliseconds. */
  restartMs = 0;
  /** Transactions whose hash was answered. */
  answered = 0;

  constructor(options: StormNodeOptions) {
    this.#options = options;
    this.home = options.home;
    this.ledger = options.ledger;
    this.#flags = { ...options.settings.flags };
  }

  /** From its next start on. @param key as a flag names it */
  setFlag(key: string, value: string): void {
    this.#flags[key] = value;
  }

  get process(): NodeProcess {
    return this.#process!;
  }

  get load(): Load {
    return this.#load!;
  }

  /** Starts a process without waiting for it. @param armed a step at which it dies */
  spawn(armed?: ArmedStep): void {
    const { dev, hooks, preload } = this.#options.settings;
    const flags = this.#flags;
    const { home, logFile } = this.#options;
    this.#process = new NodeProcess({ home, dev, flags, hooks, armed, logFile, preload });
  }

  /** Starts the node, and compares what it answers with what was seen of it. @throws StormFailure, NoAnswerError, RpcError */
  async start(): Promise<void> {
    this.spawn();
    await this.answer();
    await this.check();
  }

  /** Waits for the first answer of the process that was spawned, and begins the load. */
  async answer(): Promise<void> {
    this.restartMs = await this.process.firstAnswer();
    await this.beginLoad();
    this.leftovers += this.#leftovers.length;
    await assertEnded(this.#leftovers);
    this.#leftovers = [];
  }

  /** @returns the number of the newest block that was compared */
  check(): Promise<number> {
    return this.ledger.check(this.process.rpc);
  }

  /** Clients that have subscribed and sent one transaction. */
  async beginLoad(): Promise<void> {
    const load = new Load({
      rpc: this.process.rpc,
      wsUrl: await this.process.wsUrl(),
      ledger: this.ledger,
      random: this.#options.random,
      pauseMsMax: this.#options.settings.pauseMsMax,
    });
    this.#load = load;
    await load.begin();
    const metricsUrl = await this.process.metricsUrl();
    if (metricsUrl !== undefined) this.#watch ??= new SpeculationWatch(metricsUrl);
  }

  /** Ends the clients. @throws what they saw that must not be */
  async endLoad(): Promise<void> {
    const load = this.#load;
    this.#load = undefined;
    if (load === undefined) return;
    this.answered += load.answered;
    await load.stop();
  }

  /** Kills the node, if it lives, and waits until nothing of it runs. @throws StormFailure where something does */
  async kill(how: { readonly withChildren: boolean } = { withChildren: false }): Promise<void> {
    await this.process.kill(how);
    this.#watch?.end(this.speculated);
    this.#watch = undefined;
    await this.endLoad();
    this.#leftovers = [...this.#leftovers, ...(await this.process.ended())];
  }

  /** Kills the node and everything that it started, now or in a life before. */
  async end(): Promise<void> {
    await this.#process?.kill({ withChildren: true });
    this.#watch?.end(this.speculated);
    this.#watch = undefined;
    for (const each of this.#leftovers) killSame(each);
    await assertEnded(this.#leftovers);
  }

  /** New connections are served at once, except those handed to an RPC process before its end was noticed. */
  async reconnect(): Promise<void> {
    const begin = performance.now();
    for (;;) {
      try {
        await this.process.reconnect();
        await this.beginLoad();
        return;
      } catch (error) {
        if (!(error instanceof NoAnswerError) || performance.now() - begin > UNNOTICED_MS_MAX) throw error;
      }
    }
  }

  /** Waits until a transaction that a thread executed ahead is in a block, the node ends, or the senders have no more to send. */
  async firstApplied(): Promise<void> {
    const isOver = () => this.process.hasEnded || this.load.isSent;
    while (this.#watch?.applied === 0 && !isOver()) await sleep(20);
  }

  /** Has clients at work until one of this life or an earlier one has seen a receipt. */
  async firstReceipt(): Promise<void> {
    if (this.ledger.receiptsSeen > 0) return;
    this.load.start();
    await this.#waitFor("receipt", () => this.ledger.receiptsSeen > 0);
    await this.endLoad();
    await this.beginLoad();
  }

  /** @returns when the first block since the load began was notified, by the monotonic clock */
  async nextBlock(): Promise<number> {
    await this.#waitFor("block", () => this.load.firstBlockMs !== undefined);
    return this.load.firstBlockMs!;
  }

  async #waitFor(what: string, isSeen: () => boolean): Promise<void> {
    const begin = performance.now();
    while (!isSeen()) {
      if (this.process.hasEnded) throw new NoAnswerError("the node ended");
      if (performance.now() - begin > BLOCK_MS_MAX) {
        throw new StormFailure("NO_BLOCK", `no ${what} within ${BLOCK_MS_MAX / 1000} s, though a transaction waits`);
      }
      await sleep(5);
    }
  }
}

/** Where the log of the nodes of a storm is. @param directory that of the storm */
export const logFileOf = (directory: string): string => join(directory, "node.log");
