import { lateHeadMs } from "../../../src/consensus/cometbft/abci/head-age.ts";
import { INJECTED_WORD } from "../cometbft/hostility.ts";
import type { Cluster, ClusterNode, Warning } from "../scenario/cluster.ts";
import { forkTimeOf, HOME } from "../scenario/homes.ts";
import { READER_SLEEP_MS_MAX } from "./store-reader.ts";

/** How often every node is looked at. */
const LOOK_MS = 500;

/** A ready node is at most so many blocks behind. */
const BLOCKS_BEHIND_MAX = 5;
/** Rounds without a proposer after which a node that is cut off may still believe in its head. */
const LOST_ROUNDS_MAX = 3;

/** Files and sockets that a process of a node has open at most, besides one for each segment of the block log and each thread that follows it. */
const DESCRIPTORS_MAX = 48;
/** Maximum number of removed log segments that a process still has open, beside those of the log at the latest reader's last look. */
const REMOVED_SEGMENTS_MAX = 8;

/**
 * A node's main thread makes blocks, votes through them and answers everybody, so it computes nothing for so long at once that strangers can ask for again
 * and again. What costs it less is not counted in virtual time.
 */
const COMPUTATION_MS_MAX = 50;

/** Engines of more than a third of the validators that their nodes restart within this time are a herd. */
const HERD_MS = 3_000;

/** What the supervisor of CometBFT logs when it restarts an engine, because no block came, because of its log, and after any end of it; and when it does not. */
const STALL_RESTART = "no block for too long; restarting the engine";
const FAULT_RESTART = "the engine failed; restarting it";
const GIVEN_UP = "the engine stays down";
const RESTART = "the engine ended; restarting it";
/** An engine that ends at once is started so often within this time, at most: pauses grow. */
const RESTARTS_MS = 20_000;
const RESTARTS_MAX = 8;

/** After the time of a fork that it lacks a node may take some proposals still: those of proposers that say nothing of it, such as its own. */
const OTHER_FORK_SECONDS = 20;

/** Looks at all nodes all the time: what says it is well must be well, and nothing may grow without end. */
export class Watcher {
  readonly #cluster: Cluster;
  /** When each height was first the head of a node. */
  readonly #firstAt: number[] = [0];
  #stallRestarts: { readonly node: number; readonly at: number }[] = [];
  /** Times of the newest restarts of engines, by node. */
  readonly #restarts = new Map<number, number[]>();
  /** Sizes of the block logs while a reader can sleep, by node. */
  readonly #logSizes = new Map<number, { readonly at: number; readonly bytes: number }[]>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    cluster.onWarning((node, warning) => this.#onWarning(node, warning));
    this.#look();
  }

  #onWarning(node: ClusterNode, { message, data }: Warning): void {
    const { simulation } = this.#cluster;
    if (message === STALL_RESTART) this.#onStallRestart(node);
    if (message === RESTART) this.#onRestart(node);
    const cause = message === FAULT_RESTART ? data["text"] : message === GIVEN_UP ? data["reason"] : "";
    if (String(cause).includes(INJECTED_WORD)) {
      simulation.violate("obedience", `node-${node.index} ends its engine for what a peer says: ${cause}`);
    }
  }

  #onRestart({ index }: ClusterNode): void {
    const { simulation } = this.#cluster;
    const recent = (this.#restarts.get(index) ?? []).filter((at) => simulation.now - at < RESTARTS_MS);
    recent.push(simulation.now);
    this.#restarts.set(index, recent);
    if (recent.length <= RESTARTS_MAX) return;
    simulation.violate("bounds", `node-${index} starts its engine ${recent.length} times in ${RESTARTS_MS} ms`);
  }

  /** A node restarts its engine because no block came. */
  #onStallRestart(node: ClusterNode): void {
    const { simulation, plan } = this.#cluster;
    const at = simulation.now;
    this.#stallRestarts = [...this.#stallRestarts.filter((each) => at - each.at < HERD_MS), { node: node.index, at }];
    const validators = new Set(
      this.#stallRestarts.map((each) => each.node).filter((each) => plan.nodes[each]!.isValidator),
    );
    const all = plan.nodes.filter(({ isValidator }) => isValidator).length;
    if (all > 1 && 3 * validators.size > all) {
      const names = [...validators].map((each) => `node-${each}`).join(", ");
      simulation.violate(
        "herd",
        `${names} restarted their engines within ${HERD_MS} ms, though nothing was wrong with them`,
      );
    }
  }

  #look(): void {
    this.#cluster.simulation.after(LOOK_MS, undefined, () => {
      this.#look();
      for (const node of this.#cluster.nodes) this.#noteHead(node);
      for (const node of this.#cluster.nodes) {
        this.#checkReady(node);
        this.#checkFork(node);
        this.#checkBounds(node);
        this.#checkComputation(node);
      }
    });
  }

  #noteHead(node: ClusterNode): void {
    const head = node.serving?.core.chain.head().block.header.number ?? 0;
    while (this.#firstAt.length <= head) this.#firstAt.push(this.#cluster.simulation.now);
  }

  /** A balancer sends requests to a node that says it is ready. */
  #checkReady(node: ClusterNode): void {
    const { simulation, plan } = this.#cluster;
    const { readiness } = node;
    if (plan.engine === "solo" || !readiness?.ready) return;
    const { head } = readiness;
    const newest = this.#firstAt.length - 1;
    if (newest - head <= BLOCKS_BEHIND_MAX) return;
    const ageMs = simulation.now - this.#firstAt[head + 1]!;
    // The time of a block is that of the validators' clocks.
    const clockMs = Math.max(...this.#cluster.nodes.map(({ machine }) => Math.abs(machine.clock.error)));
    if (ageMs <= lateHeadMs(plan.blockTimeMs, LOST_ROUNDS_MAX) + 2 * clockMs) return;
    const age = `${Math.round(ageMs / 1_000)} s`;
    simulation.violate(
      "readiness",
      `node-${node.index} says it is ready at block ${head}, which is old for ${age}; others are at ${newest}`,
    );
  }

  /** A node that executes blocks by other rules than the others must not say that it is ready. */
  #checkFork({ index, otherForkAt, startedAt, serving, readiness }: ClusterNode): void {
    const { simulation, plan } = this.#cluster;
    if (otherForkAt === undefined || startedAt <= otherForkAt || plan.nodes.length < 4 || !readiness?.ready) return;
    const { number, timestamp } = serving!.core.chain.head().block.header;
    if (timestamp < forkTimeOf(plan) + OTHER_FORK_SECONDS) return;
    simulation.violate(
      "readiness",
      `node-${index} says it is ready at block ${number}, and lacks a fork of the others`,
    );
  }

  #checkBounds(node: ClusterNode): void {
    const { simulation, plan } = this.#cluster;
    const { machine, index } = node;
    const { segmentBytes } = plan.nodes[index]!;
    const removed = machine.disk.unlinkedBytes();
    let logBytes = 0;
    let segments = 0;
    for (const [, file] of machine.disk.filesBelow(`${HOME}/data/log`)) {
      logBytes += file.content.size;
      segments++;
    }
    for (const { name, files } of machine.processes) {
      const logs = 1 + (name.endsWith("evmintd") ? plan.speculationThreads : 0);
      if (files.size > DESCRIPTORS_MAX + logs * segments) {
        simulation.violate("bounds", `${name} has ${files.size} files open, and the log has ${segments} segments`);
      }
    }
    const sizes = (this.#logSizes.get(index) ?? []).filter(({ at }) => simulation.now - at <= READER_SLEEP_MS_MAX);
    sizes.push({ at: simulation.now, bytes: logBytes });
    this.#logSizes.set(index, sizes);
    const largest = Math.max(...sizes.map(({ bytes }) => bytes));
    if (removed > largest + REMOVED_SEGMENTS_MAX * segmentBytes) {
      simulation.violate(
        "bounds",
        `node-${index} holds ${removed} bytes of removed files, its segments have ${segmentBytes}`,
      );
    }
  }

  #checkComputation({ index, process }: ClusterNode): void {
    const ms = process?.longestComputation ?? 0;
    if (ms <= COMPUTATION_MS_MAX) return;
    this.#cluster.simulation.violate("stall", `the main thread of node-${index} computes for ${ms} ms at once`);
  }

  /** Once all faults are healed and blocks come, every node must be ready. */
  get unready(): readonly string[] {
    return this.#cluster.nodes.flatMap(({ readiness, index }) => {
      return readiness?.ready ? [] : [`node-${index}: ${readiness?.reason ?? "does not run"}`];
    });
  }

  /** @returns calls that a node has not answered for so long, though it runs */
  unanswered(ms: number): readonly string[] {
    const { now } = this.#cluster.simulation;
    return [...this.#cluster.openCalls].flatMap(({ process, at, method }) =>
      process?.isAlive && now - at > ms ? [`${method} of ${process.name}`] : [],
    );
  }
}
