import { genesisPath } from "../../../src/node/config/home.ts";
import type { HostileKind } from "../cometbft/hostility.ts";
import { FORGERY_KINDS } from "../cometbft/state-sync/forged-snapshot.ts";
import type { FileNode } from "../kernel/disk.ts";
import { ProcessEndedError } from "../kernel/process.ts";
import type { Random } from "../kernel/random.ts";
import type { Cluster, ClusterNode } from "./cluster.ts";
import { forkTimeOf, genesisText, HOME } from "./homes.ts";
import type { Fault, FaultKind } from "./plan.ts";

/** Writes of a machine after which a fault "at a write" strikes, at most. */
const WRITES_MAX = 60;
/** Watchdogs act after some minutes. */
const SLOW_NETWORK_MS_MIN = 60_000;
/** A node that is configured for another time of the fork waits so much longer for it. */
const LATE_FORK_SECONDS = 600;
/** Messages of a bad link. */
const LOSS_MAX = 0.3;

/** What is made anew from the log. */
const INDEX_FILES = ["index", "index.state"].map((name) => `${HOME}/data/${name}`);

/** Kinds of hostility that are also faults of the same name. */
const HOSTILE_KINDS: readonly HostileKind[] = [
  "votes",
  "proposals",
  "gossip",
  "handshake",
  "silence",
  "amnesia",
  "ballots",
];

/** What a node says that cannot go on with what it began with, and how long its operator waits for a newer snapshot. */
const NEEDS_SNAPSHOT =
  /remove data\/ and cometbft\/data\/ except priv_validator_state\.json(?:, and begin with a newer snapshot)?$/;
const NEWER_SNAPSHOT_MS = 15_000;

/** In half of the cases a forged state. */
export function snapshotHostility(extent: number): HostileKind {
  return FORGERY_KINDS[Math.floor((2 * extent - 1) * FORGERY_KINDS.length)] ?? "snapshots";
}

type Inject = (node: ClusterNode, fault: Fault) => void;

/** Makes things go wrong as a plan says, and heals them. */
export class FaultInjector {
  readonly #cluster: Cluster;
  readonly #random: Random;
  readonly #kinds: Readonly<Partial<Record<FaultKind, Inject>>>;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#random = cluster.simulation.random.stream("faults");
    cluster.onWarning((node, { data: { reason } }) => {
      if (!NEEDS_SNAPSHOT.test(String(reason))) return;
      this.#later(NEWER_SNAPSHOT_MS, () => {
        if (!node.needsOperator) return;
        this.#wipe(node, [`${HOME}/data`, ...this.#engineStores(node)], () => this.#cluster.join(node));
      });
    });
    this.#kinds = {
      "failing-engine": (node, { forMs }) => {
        node.hasFailingEngine = true;
        this.#engineOf(node)?.kill();
        this.#later(forMs, () => {
          node.hasFailingEngine = false;
        });
      },
      kill: (node) => node.process?.kill(),
      "kill-engine": (node) => this.#engineOf(node)?.kill(),
      "kill-at-write": (node, fault) => this.#killAtWrite(node, fault),
      "power-cut": (node) => this.#powerCut(node),
      "power-cut-at-write": (node, fault) => {
        // A power cut mostly meets a disk that is asked to sync: what it has then is torn.
        const isAtSync = (fault.extent * WRITES_MAX) % 1 < 0.5;
        this.#atWrite(node, fault, () => this.#powerCut(node), isAtSync ? "fsync" : undefined);
      },
      "power-cut-all": () => {
        for (const each of this.#cluster.nodes) this.#powerCut(each);
      },
      stop: (node, { forMs }) => this.#stop(node, forMs),
      pause: (node, { forMs }) => {
        for (const process of node.machine.processes) process.pause(forMs);
      },
      "slow-disk": (node, { forMs, extent }) => {
        node.machine.disk.faults.syncMs = 20 + 500 * extent;
        this.#later(forMs, () => node.machine.disk.heal());
      },
      "full-disk": (node, { forMs, extent }) => this.#fillDisk(node, forMs, extent),
      "failed-sync": (node, { forMs, extent }) => {
        // The files of the model of CometBFT do not outlive it.
        if (this.#cluster.plan.engine === "cometbft") return;
        node.machine.disk.faults.syncFailure = 0.1 + 0.5 * extent;
        this.#later(forMs, () => {
          node.machine.disk.heal();
          this.#restart(node);
        });
      },
      "index-rot": (node) => this.#rotIndex(node),
      "log-rot": (node) => this.#rotLog(node),
      "lossy-link": (node, { forMs, extent }) => {
        this.#eachLink(node, (link) => {
          link.loss = LOSS_MAX * extent;
          link.doubling = LOSS_MAX * extent;
          link.reordering = LOSS_MAX * extent;
        });
        this.#later(forMs, () => this.#cluster.simulation.network.heal());
      },
      "slow-link": (node, { forMs, extent }) => {
        this.#eachLink(node, (link) => {
          link.latencyMs = 50 + 950 * extent;
          link.jitterMs = link.latencyMs / 2;
        });
        this.#later(forMs, () => this.#cluster.simulation.network.heal());
      },
      "slow-network": (_, { forMs, extent }) => {
        // Proposals come after the others have given up waiting: rounds go by without a block.
        for (const each of this.#cluster.nodes) {
          this.#eachLink(each, (link) => {
            link.latencyMs = 1_000 + 5_000 * extent;
            link.jitterMs = link.latencyMs;
          });
        }
        this.#later(Math.max(forMs, SLOW_NETWORK_MS_MIN), () => this.#cluster.simulation.network.heal());
      },
      "cut-off": (node, { forMs }) => this.#cut([node], this.#others([node]), forMs, true),
      "cut-one-way": (node, { forMs }) => this.#cut([node], this.#others([node]), forMs, false),
      split: (_, { forMs, extent }) => {
        const nodes = this.#random.shuffled(this.#cluster.nodes);
        const group = nodes.slice(0, Math.ceil(extent * nodes.length));
        this.#cut(group, this.#others(group), forMs, true);
      },
      "clock-jump": (node, { extent }) => node.machine.clock.jump((extent - 0.5) * 20_000),
      "clock-drift": (node, { extent }) => {
        node.machine.clock.rate = 1 + (extent - 0.5) / 1_000;
      },
      "wipe-data": (node) => this.#wipe(node, [`${HOME}/data`]),
      wipe: (node) => {
        if (this.#isSafeWithout(node)) this.#wipe(node, [`${HOME}/data`, ...this.#engineStores(node)]);
      },
      "restore-backup": (node, { forMs, extent }) =>
        extent < 0.7 ? this.#backUpLog(node, forMs) : this.#backUpEngine(node, forMs),
      "late-fork": (node, fault) => this.#misconfigure(node, fault),
      "hostile-snapshots": (node, { forMs, extent }) => this.#turn(node, snapshotHostility(extent), forMs),
      ...Object.fromEntries(
        HOSTILE_KINDS.map((kind) => [
          `hostile-${kind}`,
          (node: ClusterNode, { forMs }: Fault) => this.#turn(node, kind, forMs),
        ]),
      ),
    };
  }

  /** Whether `node` may break the rules too: followers may, and validators while fewer than a third do. */
  #mayBreakRules(node: ClusterNode): boolean {
    const { plan, nodes } = this.#cluster;
    const validators = nodes.filter(({ index }) => plan.nodes[index]!.isValidator);
    if (!validators.includes(node)) return true;
    const breaking = validators.filter(
      (each) => each === node || each.hostile.size > 0 || each.otherForkAt !== undefined,
    );
    return 3 * breaking.length < validators.length;
  }

  /** A node turns against the others for some time. */
  #turn(node: ClusterNode, kind: HostileKind, forMs: number): void {
    if (!this.#mayBreakRules(node)) return;
    node.hostile.add(kind);
    // It says who it is when connections are made.
    if (kind === "handshake") this.#engineOf(node)?.kill();
    this.#later(forMs, () => node.hostile.delete(kind));
  }

  /** Gives a node another time of the fork, or takes the fork away, and starts it again; its operator finds out when everything is healed. */
  #misconfigure(node: ClusterNode, { forMs, extent }: Fault): void {
    const { plan } = this.#cluster;
    // If no other node has the blocks, the healing would lose them.
    if (plan.forkAfterMs === 0 || plan.nodes.length < 4 || !this.#mayBreakRules(node)) return;
    this.#writeGenesis(node, extent < 0.5 ? undefined : forkTimeOf(plan) + LATE_FORK_SECONDS);
    node.otherForkAt = this.#cluster.simulation.now;
    this.#later(1, () => this.#restart(node));
    this.#later(forMs, () => this.#log(`node-${node.index} has another fork time still`));
  }

  /** By an operator who sees to it that the file is on the disk. */
  #writeGenesis({ machine: { disk } }: ClusterNode, forkTime: number | undefined): void {
    const { content } = disk.find(genesisPath(HOME)) as FileNode;
    content.truncate(0);
    content.write(Buffer.from(genesisText(this.#cluster.plan, forkTime)), 0);
    content.sync();
  }

  begin(fault: Fault): void {
    const node = this.#cluster.nodes[fault.node];
    const inject = this.#kinds[fault.kind];
    if (node === undefined || inject === undefined) return;
    this.#log(`${fault.kind} node-${fault.node} for ${fault.forMs} ms (${fault.extent.toFixed(3)})`);
    inject(node, fault);
  }

  /** Ends everything that is wrong. */
  healAll(): void {
    const { simulation, nodes } = this.#cluster;
    simulation.network.heal();
    for (const node of nodes) {
      const { disk, clock } = node.machine;
      disk.heal();
      disk.beforeChange = undefined;
      clock.rate = 1;
      clock.jump(-clock.error);
      for (const process of node.machine.processes) process.busyUntil = Math.min(process.busyUntil, simulation.now);
      node.hostile.clear();
      node.hasFailingEngine = false;
      if (node.otherForkAt !== undefined) {
        // What it executed by other rules goes; the blocks come from its engine again.
        node.otherForkAt = undefined;
        this.#wipe(node, [`${HOME}/data`, ...this.#engineStores(node)]);
        this.#writeGenesis(node, forkTimeOf(this.#cluster.plan));
      } else if (node.hasRot) this.#remake(node);
      // What else is wrong with a node it has to mend alone.
      else if (node.needsOperator || node.process === undefined || this.#random.chance(0.5)) this.#restart(node);
    }
  }

  #log(text: string): void {
    this.#cluster.simulation.log("fault", text);
  }

  #later(ms: number, work: () => void): void {
    this.#cluster.simulation.after(ms, undefined, work);
  }

  #engineOf({ machine }: ClusterNode) {
    return [...machine.processes].find(({ name }) => name.endsWith("/cometbft"));
  }

  #others(group: readonly ClusterNode[]): ClusterNode[] {
    return this.#cluster.nodes.filter((node) => !group.includes(node));
  }

  #eachLink(node: ClusterNode, change: (link: ReturnType<Cluster["simulation"]["network"]["link"]>) => void): void {
    const { network } = this.#cluster.simulation;
    for (const other of this.#others([node])) {
      change(network.link(node.machine, other.machine));
      change(network.link(other.machine, node.machine));
    }
  }

  #cut(group: readonly ClusterNode[], others: readonly ClusterNode[], forMs: number, isBothWays: boolean): void {
    const { network } = this.#cluster.simulation;
    for (const from of group) {
      for (const to of others) {
        network.link(from.machine, to.machine).isCut = true;
        if (isBothWays) network.link(to.machine, from.machine).isCut = true;
      }
    }
    network.timeOut();
    this.#later(forMs, () => network.heal());
  }

  #powerCut(node: ClusterNode): void {
    node.lostAt = this.#cluster.simulation.now;
    node.machine.powerCut();
  }

  /** Strikes before the n-th change that the machine makes to its disk from now on, or the first after it of the name `only`. */
  #atWrite(node: ClusterNode, { extent }: Fault, strike: () => void, only?: string): void {
    const { disk } = node.machine;
    const at = disk.changes + 1 + Math.floor(extent * WRITES_MAX);
    disk.beforeChange = (change, name) => {
      if (change < at || (only !== undefined && name !== only)) return;
      disk.beforeChange = undefined;
      this.#log(`strikes node-${node.index} before ${name}`);
      strike();
      throw new ProcessEndedError("the machine was struck");
    };
  }

  /** In half of the cases once more, while the node puts in order what the first kill has left. */
  #killAtWrite(node: ClusterNode, fault: Fault, kills = fault.extent < 0.5 ? 2 : 1): void {
    this.#atWrite(node, fault, () => {
      node.machine.killAll();
      const extent = (fault.extent * WRITES_MAX) % 1;
      if (kills > 1) this.#killAtWrite(node, { ...fault, extent }, kills - 1);
    });
  }

  #stop(node: ClusterNode, forMs: number): void {
    node.isDown = true;
    node.process?.signal("SIGTERM");
    this.#later(forMs, () => this.#start(node));
  }

  /** As an operator does who wants a node to look again at its disk. */
  #restart(node: ClusterNode): void {
    const { process } = node;
    if (process === undefined) {
      this.#start(node);
      return;
    }
    node.isDown = true;
    process.onExit(() => this.#later(100, () => this.#start(node)));
    process.signal("SIGTERM");
    this.#later(20_000, () => process.kill());
  }

  #start(node: ClusterNode): void {
    if (node.process === undefined) this.#cluster.start(node);
    else node.process.onExit(() => this.#later(100, () => this.#cluster.start(node)));
  }

  #fillDisk(node: ClusterNode, forMs: number, extent: number): void {
    const { disk } = node.machine;
    // With some megabytes left the node sees it coming, with some kilobytes a write fails.
    disk.faults.filledAt = this.#cluster.simulation.now;
    disk.faults.capacity = disk.usedBytes() + (extent < 0.5 ? 8_000 + 100_000 * extent : 2 ** 25);
    this.#later(forMs, () => {
      disk.heal();
      this.#restart(node);
    });
  }

  /** Ends the node and removes its index, which the next start makes anew from the log. */
  #remake(node: ClusterNode): void {
    node.hasRot = false;
    node.isDown = true;
    node.machine.killAll();
    this.#remove(node, INDEX_FILES);
    this.#later(1_000, () => this.#start(node));
  }

  #remove({ machine: { disk } }: ClusterNode, paths: readonly string[]): void {
    for (const path of paths) if (disk.find(path)) disk.replace(path, undefined);
  }

  #rotIndex(node: ClusterNode): void {
    node.hasRot = true;
    const files = [...node.machine.disk.filesBelow(`${HOME}/data/index`)];
    for (const [path, file] of files) {
      if (this.#random.chance(0.5)) file.content.rot(this.#random);
      const isRotten = (file.mapped as { rot?(random: Random): boolean } | undefined)?.rot?.(this.#random);
      this.#log(`rot in ${path} of node-${node.index}${isRotten ? ", and in a row" : ""}`);
    }
  }

  #rotLog(node: ClusterNode): void {
    const files = [...node.machine.disk.filesBelow(`${HOME}/data/log`)];
    if (files.length > 0) this.#random.pick(files)[1].content.rot(this.#random);
  }

  /** Stores of CometBFT, without what says which votes were signed. */
  #engineStores(node: ClusterNode): string[] {
    const directory = `${HOME}/cometbft/data`;
    const found = node.machine.disk.find(directory);
    if (found?.kind !== "directory") return [];
    return [...found.children.keys()]
      .filter((name) => name !== "priv_validator_state.json")
      .map((name) => `${directory}/${name}`);
  }

  /** The others have every block and can continue without this node; otherwise a wipe would lose data for good. */
  #isSafeWithout(node: ClusterNode): boolean {
    const heads = this.#others([node]).map(headOf);
    const own = headOf(node);
    return heads.length >= 3 && heads.every((head) => head >= own - 1 && head > 0);
  }

  #wipe(node: ClusterNode, paths: readonly string[], start = () => this.#start(node)): void {
    node.isDown = true;
    node.machine.killAll();
    node.lostAt = this.#cluster.simulation.now;
    this.#remove(node, paths);
    this.#later(1_000, start);
  }

  /** Copies the log now, while the node runs, and puts it in the place of the node's data later, as the operator's page says. */
  #backUpLog(node: ClusterNode, forMs: number): void {
    const { disk } = node.machine;
    const path = `${HOME}/data/log`;
    if (disk.find(path) === undefined) return;
    const copy = disk.copyOf(path);
    this.#later(forMs, () => {
      if (disk.find(path) === undefined) return;
      this.#log(`node-${node.index} gets its log back`);
      this.#wipe(node, [...INDEX_FILES, `${HOME}/data/pool`]);
      disk.replace(path, copy);
    });
  }

  /** The stores of CometBFT come back as they were, and the chain is ahead of them. */
  #backUpEngine(node: ClusterNode, forMs: number): void {
    const { disk } = node.machine;
    const copies = this.#engineStores(node).map((path) => [path, disk.copyOf(path)] as const);
    // CometBFT ends with a panic where its store is empty and the application has blocks.
    if (copies.length === 0 || headOf(node) === 0) return;
    this.#later(forMs, () => {
      // Blocks that no other node has are rolled back, and not decided again.
      if (!this.#isSafeWithout(node)) return;
      this.#log(`node-${node.index} gets the stores of its engine back`);
      this.#wipe(node, this.#engineStores(node));
      for (const [path, copy] of copies) disk.replace(path, copy);
    });
  }
}

function headOf({ serving }: ClusterNode): number {
  return serving?.core.chain.head().block.header.number ?? 0;
}
