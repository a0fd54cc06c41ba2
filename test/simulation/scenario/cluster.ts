import type { LogData } from "../../../src/base/telemetry/logger.ts";
import { isIndexDamage, StorePoisonedError } from "../../../src/chain/store-errors.ts";
import { consensusHashOf } from "../../../src/consensus/consensus-data.ts";
import type { ProviderRequest } from "../../../src/node/adapters/provider-types.ts";
import { snapshotsPath } from "../../../src/node/config/home.ts";
import type { NodeInProcess } from "../../../src/node/roles/start-node.ts";
import type { Readiness } from "../../../src/rpc/ports/node.ts";
import { LogPoisonedError } from "../../../src/store/storage/log/block-log.ts";
import { AbciContract } from "../cometbft/contract/abci-contract.ts";
import type { HostileKind } from "../cometbft/hostility.ts";
import { SigningKeys } from "../cometbft/signing-keys.ts";
import { FileError } from "../kernel/disk.ts";
import { Machine } from "../kernel/machine.ts";
import type { SimulatedProcess } from "../kernel/process.ts";
import type { Simulation } from "../kernel/simulation.ts";
import { runEngine } from "./engine-program.ts";
import { HOME, type Identity, makeHomes, P2P_PORT, RPC_PORT } from "./homes.ts";
import { type RunningProgram, runNode } from "./node-program.ts";
import type { Plan } from "./plan.ts";

/** What a call of a node came to. */
export type Answer =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly code: number; readonly message: string }
  /** The node ended, or was not there: nothing is known of what the call did. */
  | { readonly kind: "lost" };

/** A call under way. */
type OpenCall = { readonly process: SimulatedProcess | undefined; readonly at: number; readonly method: string };

/** What the supervisor of CometBFT logs when it starts an engine no more. */
const STAYS_DOWN = "the engine stays down";

/** A warning or an error in the log of a node. */
export type Warning = { readonly message: string; readonly data: LogData };

/** What an engine takes to see that it cannot start. */
const FAILING_ENGINE_MS = 50;

/** Between a caller and a node. */
const CALL_MS = 1;
/** A node that joins trusts a block that is this much older than the newest. */
const TRUSTED_BLOCKS_BACK = 5;
/** systemd starts a node again after so long, and waits longer each time, up to the second. */
const RESTART_MS = [1_000, 30_000] as const;

/** One node of a cluster: its machine, and the program while it runs. */
export class ClusterNode {
  readonly index: number;
  readonly machine: Machine;
  program: RunningProgram | undefined;
  /** An operator has stopped it; it is not started again before `start`. */
  isDown = false;
  /** Settings that differ from those of the plan. */
  settings: Readonly<Record<string, string>> = {};
  /** Starts that ended within a minute. */
  quickEnds = 0;
  startedAt = 0;
  /** It has said since its start that somebody has to look at it. */
  needsOperator = false;
  /** Its store lost what it had acknowledged, by a power cut, a wipe or an old copy: when last. */
  lostAt = Number.NEGATIVE_INFINITY;

  /** When its genesis file got another fork time than that of the network, by which it runs after its next start. */
  otherForkAt: number | undefined;
  /** How its engine works against the others at present. */
  readonly hostile = new Set<HostileKind>();
  /** Transactions that its engine sends its peers next, whatever the node has. */
  readonly invented: Uint8Array[] = [];
  /** Its engine ends as soon as it starts. */
  hasFailingEngine = false;
  /** Rows of its index were damaged: reads of them fail until the index is made anew. */
  hasRot = false;

  constructor(index: number, machine: Machine) {
    this.index = index;
    this.machine = machine;
  }

  /** The node, while it serves. */
  get serving(): NodeInProcess | undefined {
    return this.program?.process.isAlive ? this.program.node : undefined;
  }

  /** What `/readyz` answers. */
  get readiness(): Readiness | undefined {
    const { serving, process } = this;
    let readiness: Readiness | undefined;
    this.machine.simulation.as(process, () => {
      readiness = serving?.readiness();
    });
    return readiness;
  }

  get process(): SimulatedProcess | undefined {
    return this.program?.process.isAlive ? this.program.process : undefined;
  }
}

/** The nodes of a plan on machines of a simulation, each under something that starts it again. */
export class Cluster {
  readonly simulation: Simulation;
  readonly plan: Plan;
  readonly nodes: readonly ClusterNode[];
  readonly identities: readonly Identity[];
  /** What the engines of all nodes have called, and the sets of validators that decide for them. */
  readonly contract = new AbciContract();
  readonly #onStarted: ((node: ClusterNode) => void)[] = [];
  readonly #onWarning: ((node: ClusterNode, warning: Warning) => void)[] = [];
  /** Calls that are not answered yet. */
  readonly openCalls = new Set<OpenCall>();

  constructor(simulation: Simulation, plan: Plan) {
    this.simulation = simulation;
    this.plan = plan;
    const keys = new SigningKeys();
    this.nodes = plan.nodes.map(({ clockMs, driftPpm }, index) => {
      const machine = new Machine(simulation, `node-${index}`, `10.0.0.${index + 1}`);
      machine.clock.jump(clockMs);
      machine.clock.rate = 1 + driftPpm / 1e6;
      machine.programs.set("cometbft", (process, args) => {
        if (this.nodes[index]!.hasFailingEngine) {
          process.after(FAILING_ENGINE_MS, () => process.exit(1));
          return;
        }
        runEngine(process, args, {
          keys,
          contract: this.contract,
          hostile: () => this.nodes[index]!.hostile,
          gossip: () => this.nodes[index]!.invented.splice(0),
        });
      });
      simulation.network.addMachine(machine);
      return new ClusterNode(index, machine);
    });
    this.identities = makeHomes(
      plan,
      this.nodes.map(({ machine }) => machine),
    );
  }

  /** Calls `listener` each time a node begins to serve. */
  onStarted(listener: (node: ClusterNode) => void): void {
    this.#onStarted.push(listener);
  }

  /** Calls `listener` with each warning and error that a node logs. */
  onWarning(listener: (node: ClusterNode, warning: Warning) => void): void {
    this.#onWarning.push(listener);
  }

  startAll(): void {
    for (const node of this.nodes) {
      const { joinsAtMs } = this.plan.nodes[node.index]!;
      if (joinsAtMs === 0) this.start(node);
      else this.simulation.after(joinsAtMs, undefined, () => this.join(node));
    }
  }

  /** Starts a node that has nothing but its keys: from a snapshot, where a peer of its has one. */
  join(node: ClusterNode): void {
    if (node.process) return;
    const { dials } = this.plan.nodes[node.index]!;
    const peers = dials.map((index) => this.nodes[index]!);
    const trusted = peers.find(({ serving, machine }) => serving && hasSnapshot(machine));
    this.simulation.as(trusted?.process, () => {
      if (trusted?.serving) this.#trust(node, trusted.serving);
    });
    this.simulation.log(node.machine.name, trusted ? "joins with a snapshot" : "joins");
    this.start(node);
  }

  /** Makes `node` begin with a snapshot, from what `trusted` knows of the chain. */
  #trust(node: ClusterNode, { core: { chain, store } }: NodeInProcess): void {
    const height = Math.max(1, chain.head().block.header.number - TRUSTED_BLOCKS_BACK);
    if (height < (store.base() ?? 0)) return;
    const servers = this.nodes.slice(0, 2).map(({ machine }) => `${machine.address}:${RPC_PORT}`);
    node.settings = {
      "cometbft.state-sync-servers": servers.join(","),
      "cometbft.trust-block": `${height}:${consensusHashOf(chain.consensusDataOf(height)).slice(2)}`,
    };
  }

  start(node: ClusterNode): void {
    if (node.process) return;
    node.isDown = false;
    node.startedAt = this.simulation.now;
    node.needsOperator = false;
    const plan = this.plan.nodes[node.index]!;
    const process = node.machine.start("evmintd", (self) => {
      const onLog = (message: string, data: LogData = {}) => {
        if (message === STAYS_DOWN) node.needsOperator = true;
        for (const listener of this.#onWarning) listener(node, { message, data });
      };
      node.program = runNode(self, { ...plan, settings: this.#settingsOf(node), onLog });
      this.#watchStart(node, node.program);
    });
    node.program = { process, node: undefined };
    process.onExit(({ code }) => {
      if (code === 0) this.#checkAlone(node, process);
      this.#restartLater(node);
    });
  }

  /** Whether nothing that the others send reaches `node`. */
  isUnreachable(node: ClusterNode): boolean {
    const { network } = this.simulation;
    const others = this.nodes.filter((other) => other !== node);
    if (node.serving === undefined) return true;
    return others.length > 0 && others.every(({ machine }) => network.link(machine, node.machine).isCut);
  }

  /** A node that stops in order ends its engine first: the next one needs its files and its port. */
  #checkAlone({ machine }: ClusterNode, stopped: SimulatedProcess): void {
    const left = [...machine.processes].find(({ parent }) => parent === stopped);
    if (left) this.simulation.violate("orphan", `${stopped.name} has stopped, and ${left.name} runs still`);
  }

  /** Calls a node over a new connection. */
  call(node: ClusterNode, request: ProviderRequest, onAnswer: (answer: Answer) => void): void {
    const { simulation } = this;
    const { process } = node;
    const open = { process, at: simulation.now, method: request.method };
    this.openCalls.add(open);
    let forget = () => {};
    const answer = (result: Answer) => {
      if (!this.openCalls.delete(open)) return;
      forget();
      simulation.after(CALL_MS, undefined, () => onAnswer(result));
    };
    if (process === undefined) {
      answer({ kind: "lost" });
      return;
    }
    forget = process.onExit(() => answer({ kind: "lost" }));
    simulation.after(CALL_MS, process, () => {
      const { serving } = node;
      if (serving === undefined) {
        answer({ kind: "lost" });
        return;
      }
      serving.provider.request(request).then(
        (result) => answer({ kind: "result", result }),
        (error: { readonly code: number; readonly message: string; readonly cause?: unknown }) => {
          if (!process.isAlive) return;
          answer({ kind: "error", code: error.code, message: error.message });
          if (error.code !== -32603 || isOfTheDisk(error.cause, node)) return;
          simulation.violate("own fault", `${request.method} failed: ${String(error.cause)}`, error.cause);
        },
      );
    });
  }

  #settingsOf(node: ClusterNode): Record<string, string> {
    const { blockTimeMs, engine, speculationThreads } = this.plan;
    const shared = {
      "json-rpc.enable": "false",
      "ipc.path": "",
      "evm.compile": "off",
      "consensus.block-time": `${blockTimeMs}ms`,
      "consensus.engine": engine,
    };
    const { dials, settings } = this.plan.nodes[node.index]!;
    const network = {
      "cometbft.p2p-address": `${node.machine.address}:${P2P_PORT}`,
      "cometbft.local-net": "true",
      "cometbft.moniker": node.machine.name,
      "cometbft.persistent-peers": dials.map((index) => this.identities[index]!.peer).join(","),
    };
    return {
      ...shared,
      ...(engine === "cometbft" && network),
      ...(speculationThreads > 0 && { "evm.speculation-threads": String(speculationThreads) }),
      ...settings,
      ...node.settings,
    };
  }

  #watchStart(node: ClusterNode, program: RunningProgram): void {
    if (!program.process.isAlive) return;
    if (program.node === undefined) {
      program.process.after(10, () => this.#watchStart(node, program));
      return;
    }
    this.simulation.after(0, undefined, () => {
      for (const listener of this.#onStarted) listener(node);
    });
  }

  #restartLater(node: ClusterNode): void {
    if (node.isDown) return;
    node.quickEnds = this.simulation.now - node.startedAt < 60_000 ? node.quickEnds + 1 : 0;
    const ms = Math.min(RESTART_MS[0] * 2 ** Math.max(0, node.quickEnds - 1), RESTART_MS[1]);
    this.simulation.after(ms, undefined, () => {
      if (!node.isDown) this.start(node);
    });
  }
}

function hasSnapshot({ disk }: Machine): boolean {
  const found = disk.find(snapshotsPath(HOME));
  return found?.kind === "directory" && found.children.size > 0;
}

/** Where the disk fails, an internal error is the right answer. */
function isOfTheDisk(cause: unknown, node: ClusterNode): boolean {
  const { hasRot } = node;
  if (cause instanceof StorePoisonedError || cause instanceof LogPoisonedError) return isOfTheDisk(cause.cause, node);
  return cause instanceof FileError || (hasRot && isIndexDamage(cause));
}
