import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { runEvmintd } from "../../support/evmintd.ts";
import type { HeldDirection } from "../links.ts";
import { eventually, type Network, type NetworkNode } from "../network.ts";
import type { Traffic } from "../traffic.ts";
import type { Fault, FaultKind } from "./plan.ts";

type Disturb = (node: NetworkNode, fault: Fault) => Promise<void>;

const SIGNING_STATE = "priv_validator_state.json";

/** Makes faults happen. */
export class Disturbances {
  readonly #network: Network;
  readonly #traffic: Traffic;
  readonly #disturb: Readonly<Record<FaultKind, Disturb>>;

  constructor(network: Network, traffic: Traffic) {
    this.#network = network;
    this.#traffic = traffic;
    this.#disturb = {
      async "kill -9 of the node"(node) {
        await node.kill();
        node.start();
      },
      async "kill -9 of CometBFT"(node) {
        node.killEngine();
      },
      async "kill -9 of both"(node) {
        await node.killBoth();
        node.start();
      },
      "SIGSTOP of the node": (node, { seconds }) => stop(node.pids().slice(0, 1), seconds),
      "SIGSTOP of CometBFT": (node, { seconds }) => stop(node.pids().slice(1), seconds),
      "SIGSTOP of both": (node, { seconds }) => stop(node.pids(), seconds),
      "data/ lost": this.#lose(["data"]),
      "cometbft/data/ lost": this.#lose(["cometbft/data"]),
      "cometbft/data/ lost, signing state kept": this.#lose(["cometbft/data"], SIGNING_STATE),
      "data/ and cometbft/data/ lost": this.#lose(["data", "cometbft/data"]),
      "data/ and cometbft/data/ lost, signing state kept": this.#lose(["data", "cometbft/data"], SIGNING_STATE),
      "restored from a backup": (node, { node: index }) => this.#restore(node, index),
      "hears nothing": this.#part("in"),
      "is not heard": this.#part("out"),
      "cut off": this.#part("both"),
    };
  }

  /** Returns once the node runs again and is connected. */
  async disturb(fault: Fault): Promise<void> {
    const node = this.#network.nodes[fault.node]!;
    await eventually("CometBFT runs", async () => node.pids().length > 1);
    await this.#disturb[fault.kind](node, fault);
  }

  /** Copies a home while its node runs. */
  async backUp(index: number): Promise<void> {
    await evmintd("backup", "--home", this.#network.nodes[index]!.home, "--to", this.#backupOf(index));
  }

  #backupOf(index: number): string {
    return join(this.#network.folder, `backup-${index}`);
  }

  #lose(folders: readonly string[], kept?: string): Disturb {
    return (node, { node: index }) =>
      this.#whileDown(node, index, async () => {
        for (const folder of folders.map((name) => join(node.home, name))) {
          for (const name of readdirSync(folder)) {
            if (name !== kept) rmSync(join(folder, name), { recursive: true });
          }
        }
      });
  }

  #restore(node: NetworkNode, index: number): Promise<void> {
    return this.#whileDown(node, index, async () => {
      const lost = `${node.home}-lost`;
      if (!existsSync(this.#backupOf(index))) throw new Error(`node ${index} has no backup`);
      rmSync(lost, { recursive: true, force: true });
      renameSync(node.home, lost);
      await evmintd("restore", "--home", node.home, "--from", this.#backupOf(index));
    });
  }

  /**
   * The disk of a node that was stopped changes. What it acknowledged is with others by then: that the only copy of a transaction is lost with its disk
   * is no fault of the node.
   */
  async #whileDown(node: NetworkNode, index: number, change: () => Promise<void>): Promise<void> {
    const others = this.#network.nodes.filter((each) => each !== node);
    await this.#traffic.pause(index, others);
    await node.stop();
    await change();
    node.start();
    this.#traffic.resume(index);
  }

  #part(direction: HeldDirection): Disturb {
    return async (node, { seconds }) => {
      const mend = this.#network.hold(node, direction);
      await setTimeout(seconds * 1_000);
      mend();
    };
  }
}

async function stop(pids: readonly number[], seconds: number): Promise<void> {
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  await setTimeout(seconds * 1_000);
  for (const pid of pids) process.kill(pid, "SIGCONT");
}

async function evmintd(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await runEvmintd(args);
  if (code !== 0) throw new Error(`evmintd ${args[0]}: ${stderr}`);
}
