import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Hex } from "viem";
import { eventually, type Network, type NetworkNode } from "../network.ts";
import { Traffic, trafficAccounts } from "../traffic.ts";
import { type Audit, audit } from "./audit.ts";
import { Disturbances } from "./disturb.ts";
import { type Fault, type FaultKind, planFaults } from "./plan.ts";
import { Sampler } from "./sampler.ts";
import type { SampleCounts } from "./samples.ts";
import { assertHidden, createNetwork, NODES, nameOf, SENTRY, VALIDATORS, validatorAddress } from "./topology.ts";

export type FaultsOptions = {
  readonly seed: number;
  readonly faults: number;
  /** The longest stop of a process, and partition. */
  readonly secondsMax: number;
  /** Without a block on most validators, while two thirds are up. */
  readonly gapMsMax: number;
  /** Logs of all nodes go there where something was wrong. */
  readonly logFolder: string;
  readonly onFault?: (fault: FaultResult) => void;
  /** Aborted: the run ends after the fault that it is at. */
  readonly signal?: AbortSignal;
};

export type FaultResult = {
  readonly kind: FaultKind;
  readonly node: number;
  /** From the end of the fault until the node is ready and a validator's signature is in a block. */
  readonly recoveryMs: number;
  /** The longest time without a block, from the fault to the recovery. */
  readonly gapMs: number;
};

export type FaultsReport = {
  readonly faults: readonly FaultResult[];
  readonly samples: SampleCounts;
  readonly chain: Audit;
  readonly seconds: number;
  /** What has to be otherwise; empty where all is well. */
  readonly failures: readonly string[];
};

const SAMPLE_MS = 100;
/** A node that has lost its disk fetches every block, on a machine that does other work too. */
const RECOVERY_MS_MAX = 600_000;
const POLL_MS = 200;

/** Real nodes under load, each hit by one fault after another. */
export async function runFaults(options: FaultsOptions): Promise<FaultsReport> {
  const network = await createNetwork(trafficAccounts(NODES));
  const run = new FaultRun(network, options);
  try {
    return await run.report();
  } finally {
    await run.end();
  }
}

class FaultRun {
  readonly #network: Network;
  readonly #options: FaultsOptions;
  readonly #traffic: Traffic;
  readonly #disturbances: Disturbances;
  readonly #addresses: readonly string[];
  readonly #failures: string[] = [];
  #sampler: Sampler | undefined;
  #longestGapMs = 0;
  /** What happens at the moment, for what is wrong. */
  #now = "the start";

  constructor(network: Network, options: FaultsOptions) {
    this.#network = network;
    this.#options = options;
    this.#traffic = new Traffic(network.nodes);
    this.#disturbances = new Disturbances(network, this.#traffic);
    this.#addresses = network.nodes.slice(0, VALIDATORS).map(validatorAddress);
  }

  async report(): Promise<FaultsReport> {
    const { nodes } = this.#network;
    for (const node of nodes) node.start();
    await this.#untilHealthy(0);
    const began = performance.now();
    this.#sampler = this.#startSampler();
    this.#traffic.start();
    const faults = await this.#faults();
    this.#now = "the end";
    await this.#untilHealthy(await this.#highest());
    await this.#traffic.stop();
    await this.#untilMined();
    const samples = await this.#sampler.stop();
    this.#sampler = undefined;
    const chain = await audit(this.#network, this.#traffic.answered);
    for (const [what, wrong] of [
      ["acknowledged transactions that are lost", chain.lost],
      ["blocks that differ", chain.different],
      ["double signs", chain.doubleSigns],
    ] as const) {
      if (wrong.length > 0) this.#failures.push(`${what}: ${wrong.join(", ")}`);
    }
    if (this.#failures.length > 0) this.#writeLogs();
    const seconds = Math.round((performance.now() - began) / 1_000);
    return { faults, samples, chain, seconds, failures: this.#failures };
  }

  async end(): Promise<void> {
    await this.#traffic.stop();
    await this.#sampler?.stop();
    await this.#network.stop();
  }

  async #faults(): Promise<readonly FaultResult[]> {
    const { onFault, signal, ...options } = this.#options;
    const results: FaultResult[] = [];
    for (const fault of planFaults({ ...options, nodes: NODES, validators: VALIDATORS })) {
      if (signal?.aborted) break;
      this.#now = `fault ${results.length + 1}, ${nameOf(fault.node)}: ${fault.kind}`;
      try {
        results.push(await this.#fault(fault));
      } catch (error) {
        // Nothing that follows would say anything.
        this.#failures.push(`${this.#now}: ${error}`);
        break;
      }
      onFault?.(results.at(-1)!);
    }
    return results;
  }

  async #fault(fault: Fault): Promise<FaultResult> {
    for (const node of fault.backups) await this.#disturbances.backUp(node);
    this.#longestGapMs = 0;
    // A validator behind the sentry is away while the sentry is.
    const away = fault.node === SENTRY ? [SENTRY, 0] : [fault.node];
    this.#sampler?.setAway(away);
    await this.#disturbances.disturb(fault);
    const ended = performance.now();
    const highest = await this.#highest();
    await this.#until(away, highest);
    const recoveryMs = performance.now() - ended;
    await this.#untilHealthy(highest);
    await assertHidden(this.#network);
    this.#sampler?.setAway([]);
    const gapMs = this.#longestGapMs;
    return { kind: fault.kind, node: fault.node, recoveryMs, gapMs };
  }

  #startSampler(): Sampler {
    const urls = this.#network.nodes.map(({ url }) => url);
    const { gapMsMax } = this.#options;
    return new Sampler(
      { urls, validators: VALIDATORS, intervalMs: SAMPLE_MS },
      {
        onLate: ({ node, head, highest }) => {
          this.#failures.push(`${this.#now}: ${nameOf(node)} is ready at block ${head}, behind ${highest}`);
        },
        onBlock: ({ number, gapMs }) => {
          this.#longestGapMs = Math.max(this.#longestGapMs, gapMs);
          if (gapMs > gapMsMax) this.#failures.push(`${this.#now}: block ${number} after ${Math.round(gapMs)} ms`);
        },
      },
    );
  }

  /** Every node is ready, and every validator signs blocks after `height`. */
  #untilHealthy(height: number): Promise<void> {
    return this.#until([...this.#network.nodes.keys()], height);
  }

  async #until(nodes: readonly number[], height: number): Promise<void> {
    const began = performance.now();
    const wrong = new Map<number, string | undefined>(nodes.map((node) => [node, "not asked yet"]));
    for (;;) {
      for (const node of nodes) wrong.set(node, await this.#problem(node, height).catch(String));
      const left = [...wrong].filter(([, problem]) => problem !== undefined);
      if (left.length === 0) return;
      if (performance.now() - began > RECOVERY_MS_MAX) {
        throw new Error(left.map(([node, problem]) => `${nameOf(node)}: ${problem}`).join("; "));
      }
      await setTimeout(POLL_MS);
    }
  }

  /** What is missing at a node; undefined where nothing is. */
  async #problem(index: number, height: number): Promise<string | undefined> {
    const node = this.#network.nodes[index]!;
    const problem = await node.problem();
    if (problem !== undefined) return problem;
    const head = await node.height();
    if (head <= height + 1) return `it has block ${head}`;
    const address = this.#addresses[index];
    if (address === undefined) return undefined;
    // The block after it has the commit.
    for (let number = head - 1; number > height; number--) {
      if ((await node.committers(number)).has(address)) return undefined;
    }
    return `it has signed nothing after block ${height}`;
  }

  /** Of nodes that answer. */
  async #highest(): Promise<number> {
    const heads = await Promise.all(this.#network.nodes.map((node) => node.height().catch(() => 0)));
    return Math.max(...heads);
  }

  /** Every acknowledged transaction is in a block; where some never are, the audit says which. */
  async #untilMined(): Promise<void> {
    const [first] = this.#network.nodes as readonly [NetworkNode];
    const missing = new Set<Hex>(this.#traffic.answered);
    let next = 1;
    await eventually("every acknowledged transaction is in a block", async () => {
      for (const head = await first.height(); next <= head; next++) {
        const { transactions } = await first.client.getBlock({ blockNumber: BigInt(next) });
        for (const hash of transactions) missing.delete(hash);
      }
      return missing.size === 0;
    }).catch(() => {});
  }

  #writeLogs(): void {
    const { logFolder } = this.#options;
    mkdirSync(logFolder, { recursive: true });
    for (const [index, node] of this.#network.nodes.entries()) {
      writeFileSync(join(logFolder, `node-${index}.log`), node.logs().join("--- next process\n"));
    }
  }
}
