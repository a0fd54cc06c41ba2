import type { Random } from "../kernel/random.ts";
import type { Answer, Cluster, ClusterNode } from "../scenario/cluster.ts";
import { LEDGER } from "../workload/contracts.ts";
import type { Ledger } from "./ledger.ts";
import { calldataOf, checkLedgerCall, drawLedgerCall, type LedgerCall } from "./ledger-call.ts";
import { ModelDisagreement } from "./model.ts";

/** Milliseconds between two calls. */
const ASK_MS = 2_000;
const UNKNOWN_BLOCK = /not found/;

type SimulatedJson = readonly [{ readonly number: string; readonly calls: readonly [{ readonly status: string }] }];

/**
 * Asks the first node for executions that it does not do on its main thread (`eth_simulateV1`): on the newest block or on that one by its number, after it has
 * said that it has it.
 */
export class SimulatedCalls {
  readonly #cluster: Cluster;
  readonly #ledger: Ledger;
  readonly #random: Random;

  constructor(cluster: Cluster, ledger: Ledger) {
    this.#cluster = cluster;
    this.#ledger = ledger;
    this.#random = cluster.simulation.random.stream("simulated calls");
    this.#later();
  }

  #later(): void {
    this.#cluster.simulation.after(ASK_MS, undefined, () => {
      const node = this.#cluster.nodes[0]!;
      const { process } = node;
      const epoch = node.serving?.core.store.epoch;
      this.#cluster.call(node, { method: "eth_blockNumber" }, (answer) => {
        if (answer.kind === "result") this.#call(node, Number(answer.result), { process, epoch });
      });
      this.#later();
    });
  }

  /** @param known from before the node was asked for its newest block, `head` */
  #call(
    node: ClusterNode,
    head: number,
    known: { readonly process: unknown; readonly epoch: number | undefined },
  ): void {
    const call = drawLedgerCall(this.#random, this.#ledger.model.at(head));
    const at = this.#random.chance(0.5) ? "latest" : `0x${head.toString(16)}`;
    const calls = [{ from: call.from, to: LEDGER.address, input: calldataOf(call) }];
    const params = [{ blockStateCalls: [{ calls }] }, at];
    this.#cluster.call(node, { method: "eth_simulateV1", params }, (answer) => {
      const { serving, process } = node;
      // After a restart or a removal of blocks it may have fewer.
      if (process !== known.process || serving?.core.store.epoch !== known.epoch) return;
      try {
        this.#check(call, { at, head, answer });
      } catch (error) {
        if (!(error instanceof ModelDisagreement)) throw error;
        this.#cluster.simulation.violate("answers", `node-${node.index}, eth_simulateV1 on ${at}: ${error.message}`);
      }
    });
  }

  #check(
    call: LedgerCall,
    { at, head, answer }: { readonly at: string; readonly head: number; readonly answer: Answer },
  ) {
    if (answer.kind === "error" && UNKNOWN_BLOCK.test(answer.message)) {
      throw new ModelDisagreement(`${answer.message}, though it had block ${head} before`);
    }
    if (answer.kind !== "result") return;
    const [{ number, calls }] = answer.result as SimulatedJson;
    const base = Number(number) - 1;
    if (base < head || (at !== "latest" && base > head)) {
      throw new ModelDisagreement(`answered on block ${base}, though it had block ${head} before`);
    }
    const state = this.#ledger.model.at(base);
    if (state) checkLedgerCall(call, Number(calls[0].status) === 1, state);
  }
}
