import { hexToBytes } from "../../../src/base/primitives/hex.ts";
import { fatalTimers } from "../../../src/base/telemetry/fatal-timers.ts";
import { SILENT_LOGGER } from "../../../src/base/telemetry/logger.ts";
import { createMetrics } from "../../../src/base/telemetry/metrics.ts";
import { createExecutionThreads, type ExecutionThreads } from "../../../src/node/calls/execution-threads.ts";
import { loadConfig } from "../../../src/node/config/load.ts";
import { FollowedChain } from "../../../src/node/processes/followed-chain.ts";
import type { SimulatedProcess } from "../kernel/process.ts";
import type { Random } from "../kernel/random.ts";
import type { Cluster, ClusterNode } from "../scenario/cluster.ts";
import { HOME } from "../scenario/homes.ts";
import type { Ledger } from "./ledger.ts";
import { calldataOf, checkLedgerCall, drawLedgerCall, type LedgerCall } from "./ledger-call.ts";
import { ModelDisagreement } from "./model.ts";

/** Between two calls, on average of one of these. */
const PAUSE_MS = [200, 2_000, 10_000] as const;
/** Calls at once, when somebody removes blocks. */
const CALLS_AT_ONCE = 4;
/** A call takes 100 ms at most, and its thread another 300 to start. */
const ANSWER_MS_MAX = 10_000;
const ANSWER_STEP_MS = 1_000;

const REVERTED = "EXECUTION_REVERTED";
const UNKNOWN_BLOCK = "RPC_UNKNOWN_BLOCK";

/**
 * Executes calls in the threads of a process that follows the first node's store, as RPC processes do: each answer is of the chain at the time
 * of the answer.
 */
export class RpcProcess {
  readonly #cluster: Cluster;
  readonly #node: ClusterNode;
  readonly #ledger: Ledger;
  readonly #random: Random;
  #running: { readonly process: SimulatedProcess; readonly threads: ExecutionThreads } | undefined;

  constructor(cluster: Cluster, ledger: Ledger) {
    this.#cluster = cluster;
    this.#node = cluster.nodes[0]!;
    this.#ledger = ledger;
    this.#random = cluster.simulation.random.stream("rpc process");
    cluster.onStarted((started) => {
      if (started === this.#node) this.#begin();
    });
  }

  /** Several calls now. */
  callMany(): void {
    const { process } = this.#running ?? {};
    if (!process?.isAlive) return;
    for (let i = 0; i < CALLS_AT_ONCE; i++) process.after(0, () => this.#call());
  }

  #begin(): void {
    const { machine, process, serving } = this.#node;
    const store = serving?.core.store.followable;
    if (process === undefined || serving === undefined || store === undefined) return;
    const { config: chainConfig, genesisHash } = serving.core.chain;
    const rpc = machine.start("rpc", (self) => {
      self.onUncaught = (error) => this.#failed(error);
      const flags = { "evm.compile": "off", "json-rpc.workers": "1" };
      const { config } = loadConfig({ home: HOME, dev: false, flags, environment: {} });
      const data = { config, store, opened: "", chainConfig, genesisHash, genesisTime: 0, tls: undefined };
      const followed = new FollowedChain(
        { ...data, index: 0, count: 1, chainPid: 0, reportsCalls: false },
        (error) => this.#failed(error),
        undefined,
        fatalTimers,
      );
      const threads = createExecutionThreads(
        config,
        SILENT_LOGGER,
        {
          chain: { genesisConfig: chainConfig, genesisHash },
          store: {
            followable: store,
            get epoch() {
              return followed.newestEpoch();
            },
            noteDamage() {},
          },
        },
        { metrics: createMetrics(), timers: fatalTimers, compiler: undefined },
      );
      this.#running = { process: self, threads: threads! };
      this.#later(self);
    });
    process.onExit(() => rpc.kill());
  }

  #later(process: SimulatedProcess): void {
    process.after(this.#random.between(10, 2 * this.#random.pick(PAUSE_MS)), () => {
      this.#call();
      this.#later(process);
    });
  }

  /** A call on the newest block, by its number. */
  #call(): void {
    const { process, threads } = this.#running!;
    const number = this.#node.serving?.core.chain.head().block.header.number;
    if (number === undefined || number < 1) return;
    const call = drawLedgerCall(this.#random, this.#ledger.model.at(number));
    const args = { from: call.from, to: call.to, input: hexToBytes(calldataOf(call)) };
    let isAnswered = false;
    const answered = (outcome: "success" | "revert" | "unknown block") => {
      isAnswered = true;
      this.#check(call, number, outcome);
    };
    threads
      .run({ method: "call", input: { args, at: number, overrides: {} } }, { timeoutMs: 0, cancel: undefined })
      .then(
        () => answered("success"),
        (error: { readonly code?: string }) => {
          if (error.code === REVERTED) answered("revert");
          else if (error.code === UNKNOWN_BLOCK) answered("unknown block");
          else this.#failed(error);
          isAnswered = true;
        },
      );
    let waited = 0;
    // In steps: a pause of the process passes one of them at most.
    const wait = () => {
      if (isAnswered) return;
      waited += ANSWER_STEP_MS;
      if (waited <= ANSWER_MS_MAX) process.after(ANSWER_STEP_MS, wait);
      else this.#violate(`a call on block ${number} has no answer after ${ANSWER_MS_MAX} ms`);
    };
    wait();
  }

  /** @param number of the block that was the newest when the call began */
  #check(call: LedgerCall, number: number, outcome: "success" | "revert" | "unknown block"): void {
    const head = this.#node.serving?.core.chain.head().block.header.number;
    if (head === undefined) return;
    if (outcome === "unknown block") {
      if (number <= head) this.#violate(`block ${number} is unknown, and the head is ${head}`);
      return;
    }
    if (number > head) {
      this.#violate(`the answer to a call is of block ${number}, which was removed before: the head is ${head}`);
      return;
    }
    const state = this.#ledger.model.at(number);
    if (state === undefined) return;
    try {
      checkLedgerCall(call, outcome === "success", state);
    } catch (error) {
      if (!(error instanceof ModelDisagreement)) throw error;
      this.#violate(error.message);
    }
  }

  #failed(error: unknown): void {
    if (this.#node.hasRot || !this.#node.machine.disk.isSound) return;
    this.#violate(`it fails: ${String(error)}`, error);
  }

  #violate(text: string, cause?: unknown): void {
    this.#cluster.simulation.violate("reader", `an RPC process of node-${this.#node.index}: ${text}`, cause);
  }
}
