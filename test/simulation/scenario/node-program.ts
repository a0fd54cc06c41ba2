import { InvariantError, NodeError } from "../../../src/base/errors.ts";
import type { LogData, Logger } from "../../../src/base/telemetry/logger.ts";
import { MERGE_LIMITS } from "../../../src/chain/store/index/index-merge.ts";
import { loadConfig } from "../../../src/node/config/load.ts";
import { type NodeInProcess, startNode } from "../../../src/node/roles/start-node.ts";
import { ProcessEndedError, type SimulatedProcess } from "../kernel/process.ts";
import { HOME } from "./homes.ts";
import type { NodePlan } from "./plan.ts";

/** Loading the program and its modules. */
const LOADING_MS = 150;

/** Exit status of a node after its own fault. */
const FAILED = 70;

export type RunningProgram = { readonly process: SimulatedProcess; node: NodeInProcess | undefined };

type NodeSettings = Pick<NodePlan, "segmentBytes" | "mergeBlocks" | "mergeKeys" | "replayBytes"> & {
  /** By key. */
  readonly settings: Readonly<Record<string, string>>;
  /** Called with each warning and error of its log. */
  readonly onLog: (message: string, data?: LogData) => void;
};

/** What `evmintd start` does, without listeners: loads the settings, starts the node, stops it in order at SIGTERM, and ends with status 70 when it fails. */
export function runNode(
  process: SimulatedProcess,
  { segmentBytes, mergeBlocks, mergeKeys, replayBytes, settings, onLog }: NodeSettings,
): RunningProgram {
  const program: RunningProgram = { process, node: undefined };
  const log = new TraceLogger(process, "node", onLog);
  const fail = (error: unknown) => {
    if (!process.isAlive) return;
    log.error("the node ends", { error });
    process.exit(FAILED);
  };
  process.onUncaught = (error) => {
    process.simulation.violate("crash", `${process.name}: nobody caught ${String(error)}`, error);
  };
  const { config } = loadConfig({ home: HOME, dev: false, flags: settings, environment: {} });
  // A merge that was cut short meets other limits at the next start, as one that began late does.
  const blocksMin = process.random.stream("merges").pick([2, mergeBlocks]);
  const hooks = {
    segmentBytesMax: segmentBytes,
    mergeLimits: { ...MERGE_LIMITS, blocksMin, keysMax: mergeKeys },
    replayBytesMax: replayBytes,
    pruneAtOnce: true,
  };
  process.charge(LOADING_MS);
  startNode(config, log, hooks).then((node) => {
    program.node = node;
    void node.failure.then(fail);
    process.simulation.log(process.name, `started at block ${node.chain.head}`);
    process.onSignal = () => void node.stop().then(() => process.exit(0), fail);
  }, fail);
  return program;
}

/** Errors of a program that has let something through. */
const OWN_FAULTS = [InvariantError, TypeError, RangeError];
const NO_SERVER = "ENGINE_CONSENSUS_DATA_UNKNOWN";

/** Puts what an operator would read into the trace. An error that is the program's own fault must not happen. */
class TraceLogger implements Logger {
  readonly #process: SimulatedProcess;
  readonly #module: string;
  readonly #onLog: (message: string, data?: LogData) => void;

  constructor(process: SimulatedProcess, module: string, onLog: (message: string, data?: LogData) => void) {
    this.#process = process;
    this.#module = module;
    this.#onLog = onLog;
  }

  error(message: string, data?: LogData): void {
    this.#write(`ERROR ${message}`, data);
    this.#onLog(message, data);
    this.#check(message, data);
  }

  warn(message: string, data?: LogData): void {
    this.#write(`WARN ${message}`, data);
    this.#onLog(message, data);
    this.#check(message, data);
  }

  info(message: string, data?: LogData): void {
    this.#write(message, data);
  }

  debug(): void {}
  trace(): void {}
  enabled = (level: string) => level !== "debug" && level !== "trace";
  child = (module: string) => new TraceLogger(this.#process, module, this.#onLog);

  #check(message: string, data?: LogData): void {
    const error = data?.["error"];
    if (error instanceof ProcessEndedError || !this.#process.isAlive) return;
    // Whatever peers send, state sync rejects it and goes on; servers may not answer, and disks fail.
    const isOfPeer = message === "state sync failed" && error instanceof NodeError && error.code !== NO_SERVER;
    if (data?.["class"] === "internal" || isOfPeer || OWN_FAULTS.some((each) => error instanceof each)) {
      this.#process.simulation.violate("own fault", `${this.#process.name}: ${message}: ${textOf(error)}`, error);
    }
  }

  #write(message: string, data: LogData = {}): void {
    const { simulation, name } = this.#process;
    const facts = Object.entries(data).map(([key, value]) => `${key}=${textOf(value)}`);
    simulation.log(name, [`${this.#module}: ${message}`, ...facts].join(" "));
  }
}

function textOf(value: unknown): string {
  if (value instanceof Error) return value.cause ? `${value.message} (${textOf(value.cause)})` : value.message;
  if (typeof value === "object")
    return JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each));
  return String(value);
}
