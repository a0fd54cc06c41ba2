import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { addressFromPrivateKey } from "../../src/base/crypto/secp256k1.ts";
import { DEV_BALANCE } from "../../src/node/keystore/dev-accounts.ts";
import { mulberry32 } from "../support/chain/random-chain.ts";
import { overIpc } from "../support/clients.ts";
import { devPrivateKeys } from "../support/node/keystore/unlocked-signer.ts";
import { ChainModel } from "./chain-model.ts";
import { checkHome } from "./check-home.ts";
import { contractsOf } from "./contracts.ts";
import { asFailure, StormFailure } from "./failure.ts";
import { drawSettings, type HomeSettings, withFork, withSpeculation, writeGenesis } from "./home-settings.ts";
import { drawKill, type KillPlan } from "./kill-plan.ts";
import { Ledger } from "./ledger.ts";
import { type ArmedStep, killProcess } from "./node-process.ts";
import { Sender } from "./sender.ts";
import type { HomeReport, KillResult, Storm, StormOptions } from "./storm.ts";
import { logFileOf, StormNode } from "./storm-node.ts";

const EVMINTD = fileURLToPath(new URL("../../bin/evmintd.js", import.meta.url));
const SENDERS = 4;
/** Set the random numbers of settings that came later apart, so that homes without them are as they were. */
const SPECULATION_STREAM = 0x5eed;
const FORK_STREAM = 0xf0f0;
/** Most blocks that one rewind removes: proofs of so many are there, whatever the retention. */
const REWIND_BLOCKS_MAX = 40;

export type StormHomeOptions = StormOptions & {
  readonly engine: "solo" | "cometbft";
  /** Threads that execute ahead of the chain's own; 0 where it is not given. */
  readonly speculationThreads?: number;
  /** A life with such threads that ends at a moment lasts until a transaction that they executed is in a block, if one ever is. */
  readonly awaitsSpeculation?: boolean;
  /** Replaces the settings drawn from the seed. */
  readonly settings?: Partial<Omit<HomeSettings, "dev" | "chainId">>;
  /** Called on the home of a node that is dead, before its next start: for tests of the storm, which damage it. */
  readonly whileDead?: (home: string) => void;
  /** Called on a node that was checked, before it is killed: for tests of the storm, which change its answers. */
  readonly whileAlive?: (node: StormNode) => Promise<void>;
};

/** One node, with either engine, that is killed again and again under load. */
export class StormHome implements Storm {
  readonly node: StormNode;
  readonly settings: HomeSettings;
  readonly #options: StormHomeOptions;
  readonly #random: () => number;
  #plan: KillPlan | undefined;

  constructor(options: StormHomeOptions) {
    this.#options = options;
    // Neighbouring seeds begin with much the same numbers.
    this.#random = mulberry32(Math.imul(options.seed, 0x9e3779b1));
    const settings = drawSettings(options.engine, this.#random, options.firstPort);
    const threads = options.speculationThreads ?? 0;
    const stream = (name: number) => mulberry32(Math.imul(options.seed ^ name, 0x9e3779b1));
    const drawn = withFork(
      threads > 0 ? withSpeculation(settings, threads, stream(SPECULATION_STREAM)) : settings,
      stream(FORK_STREAM),
    );
    this.settings = { ...drawn, ...options.settings, flags: { ...drawn.flags, ...options.settings?.flags } };
    const home = join(options.directory, "home");
    mkdirSync(home, { recursive: true });
    const keys = devPrivateKeys();
    const addresses = keys.map(addressFromPrivateKey);
    if (!this.settings.dev) writeGenesis(home, this.settings, addresses);
    const contracts = contractsOf(addresses[0]!);
    const senders = keys.slice(0, SENDERS).map(
      (privateKey, index) =>
        new Sender({
          privateKey,
          contracts,
          chainId: this.settings.chainId,
          isDeployer: index === 0,
          hasStateGas: this.settings.forkAfterSeconds !== undefined,
          random: mulberry32(options.seed + index + 1),
        }),
    );
    this.node = new StormNode({
      home,
      logFile: logFileOf(options.directory),
      settings: this.settings,
      random: this.#random,
      ledger: new Ledger({
        model: new ChainModel(contracts, new Map(addresses.map((address) => [address, DEV_BALANCE]))),
        contracts,
        senders,
        allSenders: senders,
        retainedBlocks: this.settings.retainedBlocks,
        random: this.#random,
      }),
    });
  }

  async run(): Promise<HomeReport> {
    const { node } = this;
    try {
      await node.start();
      for (let kills = 0; kills < this.#options.kills && !this.#options.signal?.aborted; ) {
        await this.#options.whileAlive?.(node);
        // A start can only be compared with what clients saw before it.
        if (kills === this.#options.kills - 1) await node.firstReceipt();
        this.#plan = drawKill(this.settings, this.#random);
        const killed = await this.#kill(this.#plan);
        if (killed === undefined) continue;
        kills++;
        this.#options.onKill(killed);
      }
      await node.kill();
      await checkHome(node.home, this.settings);
    } catch (error) {
      throw asFailure(error, this.#plan);
    } finally {
      await node.end();
    }
    const { blocksSeen, receiptsSeen, model } = node.ledger;
    return {
      blocks: model.head,
      blocksOfAmsterdam: model.blocksOfAmsterdam,
      transactionsAnswered: node.answered,
      receiptsSeen,
      blocksSeen,
      speculated: node.speculated,
      leftovers: node.leftovers,
    };
  }

  /** One kill, and the start after it; undefined where what was to be killed ended before. */
  async #kill(plan: KillPlan): Promise<KillResult | undefined> {
    const { node } = this;
    const { kind } = plan;
    if (kind === "rpc process") return this.#killRpcProcess(plan);
    if (kind === "engine") return this.#killEngine(plan);
    let step: string | undefined;
    let isKilled = true;
    if (kind === "start" || kind === "compact") {
      await node.kill();
      if (kind === "compact") isKilled = await this.#killCompaction(plan);
      else step = await this.#killStart(plan);
    } else step = await this.#killUnderLoad(plan);
    this.#options.whileDead?.(node.home);
    await node.start();
    if (!isKilled) return undefined;
    const { restartMs } = node;
    // Waits for a block in some of the lives; what happens before the first one is to be killed as well.
    const isWaiting = this.#random() * (1 + this.settings.slowness) < 1;
    const blockMs = isWaiting ? (await node.nextBlock()) - node.process.spawnedMs : undefined;
    // A step that the life did not come to: it was killed at a moment.
    return { kind: kind === "step" && step === undefined ? "moment" : kind, nodes: 1, step, restartMs, blockMs };
  }

  /** @returns the step, where it was reached */
  async #killUnderLoad(plan: KillPlan): Promise<string | undefined> {
    const { kind, afterMs, armed } = plan;
    const { node } = this;
    const { process } = node;
    if (kind === "rewind") await this.#rewind(armed);
    else {
      if (armed !== undefined) process.arm(armed);
      node.load.start();
    }
    await Promise.race([process.exited, sleep(afterMs)]);
    if (kind === "moment" && this.#options.awaitsSpeculation === true) await node.firstApplied();
    const hasDied = process.hasEnded;
    if (hasDied && armed === undefined) throw new StormFailure("NO_START", `the node ended: ${await process.exited}`);
    if (kind === "stopped") await this.#stopForAWhile();
    await node.kill({ withChildren: kind === "all" });
    return hasDied ? armed?.step : undefined;
  }

  async #stopForAWhile(): Promise<void> {
    const { process } = this.node;
    process.signal("SIGSTOP");
    await sleep(20 + this.#random() * 200);
    if (this.#random() < 0.5) return;
    process.signal("SIGCONT");
    await sleep(this.#random() * 40);
  }

  /** @returns the step, where it was reached */
  async #killStart({ afterMs, armed }: KillPlan): Promise<string | undefined> {
    const { node } = this;
    node.spawn(armed);
    const { process } = node;
    await Promise.race([process.exited, sleep(afterMs)]);
    const hasDied = process.hasEnded;
    if (hasDied && armed === undefined) throw new StormFailure("NO_START", `it ended: ${await process.exited}`);
    await node.kill();
    return hasDied ? armed?.step : undefined;
  }

  /** @returns false where it was done before */
  async #killCompaction({ afterMs }: KillPlan): Promise<boolean> {
    const mode = this.settings.dev ? ["--dev"] : [];
    const child = spawn(process.execPath, [EVMINTD, "compact", "--home", this.node.home, ...mode], {
      stdio: "ignore",
      env: { PATH: process.env["PATH"] },
    });
    const ended = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
    await Promise.race([ended, sleep(afterMs)]);
    child.kill("SIGKILL");
    const [code, signal] = await ended;
    if (code !== null && code !== 0) throw new StormFailure("STORE_FAULTY", `compact ended with code ${code}`);
    return signal === "SIGKILL";
  }

  /** Has the newest blocks removed, without waiting for the end of it. */
  async #rewind(armed: ArmedStep | undefined): Promise<void> {
    const { node } = this;
    const head = await node.check();
    const number = Math.max(0, head - 1 - Math.floor(this.#random() * REWIND_BLOCKS_MAX));
    if (armed !== undefined) node.process.arm(armed);
    node.ledger.removedAfter(number);
    // A private method: over HTTP it takes a token.
    void overIpc(await node.process.ipcPath(), "debug_setHead", [`0x${number.toString(16)}`]).catch(() => {});
  }

  async #killRpcProcess({ afterMs }: KillPlan): Promise<KillResult | undefined> {
    const { node } = this;
    const serving = node.process.childrenNamed("node");
    if (serving.length === 0) return undefined;
    node.load.start();
    await sleep(afterMs);
    killProcess(serving[Math.floor(this.#random() * serving.length)]!);
    await node.endLoad();
    await node.reconnect();
    await node.check();
    return { kind: "rpc process", nodes: 1, step: undefined, restartMs: undefined, blockMs: undefined };
  }

  async #killEngine({ afterMs }: KillPlan): Promise<KillResult | undefined> {
    const { node } = this;
    const [engine] = node.process.childrenNamed("cometbft");
    if (engine === undefined) return undefined;
    node.load.start();
    await sleep(afterMs);
    killProcess(engine);
    const killedMs = performance.now();
    await node.endLoad();
    await node.beginLoad();
    const blockMs = (await node.nextBlock()) - killedMs;
    await node.check();
    return { kind: "engine", nodes: 1, step: undefined, restartMs: undefined, blockMs };
  }
}
