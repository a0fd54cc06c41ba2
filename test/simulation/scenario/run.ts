import { Ledger } from "../checks/ledger.ts";
import { Observer } from "../checks/observer.ts";
import { Questioner } from "../checks/questions.ts";
import { RpcProcess } from "../checks/rpc-process.ts";
import { SimulatedCalls } from "../checks/simulated-calls.ts";
import { SpeculatedCounts } from "../checks/speculated-counts.ts";
import { StoreReader } from "../checks/store-reader.ts";
import { ValidatorQuestioner } from "../checks/validator-questions.ts";
import { Watcher } from "../checks/watcher.ts";
import { enter, leave } from "../kernel/current.ts";
import { Simulation, type ViolationError } from "../kernel/simulation.ts";
import type { Result } from "../runner/protocol.ts";
import { BlobAttacker } from "../workload/blob-attacker.ts";
import { BlobSender } from "../workload/blob-sender.ts";
import { GapSender } from "../workload/gap-sender.ts";
import { Rewinder } from "../workload/rewinder.ts";
import { HEAVY_USERS } from "../workload/user-keys.ts";
import { User } from "../workload/users.ts";
import { Voters } from "../workload/voters.ts";
import { Cluster } from "./cluster.ts";
import { FaultInjector } from "./faults.ts";
import { forkTimeOf } from "./homes.ts";
import type { Plan } from "./plan.ts";

/** A `Result` before it leaves the process. */
export type RunResult = Omit<Result, "cpuMs" | "heapBytes" | "violation"> & {
  readonly violation: ViolationError | undefined;
};

/** After all faults are healed, a network is well again within so long. */
const RECOVERY_MS = 150_000;
/** A call is answered within so long, or its node ends. */
const UNANSWERED_MS = 60_000;
/** Between two bursts of transactions that are executed ahead, of one user. */
const HEAVY_PAUSE_MS = 3_000;
/** How often it is looked whether it is. */
const LOOK_MS = 2_000;

/** Runs one plan from the first event to its end, or to the first violation. Must not be called from a microtask. */
export function runPlan(plan: Plan, hasLines: boolean): RunResult {
  const simulation = new Simulation(plan.seed, hasLines);
  enter(simulation);
  try {
    const cluster = new Cluster(simulation, plan);
    const ledger = new Ledger(simulation, { fork: plan.fork, time: forkTimeOf(plan) });
    const observers = cluster.nodes.map((node) => new Observer(cluster, node, ledger));
    new Questioner(cluster, ledger);
    for (const node of cluster.nodes) new StoreReader(cluster, node, ledger);
    const rpcProcess = plan.hasCalls ? new RpcProcess(cluster, ledger) : undefined;
    if (plan.hasCalls) new SimulatedCalls(cluster, ledger);
    if (plan.hasVotes) new ValidatorQuestioner(cluster);
    const watcher = new Watcher(cluster);
    const pauseMs = (60_000 * plan.users) / Math.max(1, plan.transactionsPerMinute);
    const users: Sender[] = Array.from(
      { length: plan.transactionsPerMinute > 0 ? plan.users : 0 },
      (_, index) => new User(cluster, { index, pauseMs, ledger }),
    );
    if (plan.users > 0 && plan.blobTransactionsPerMinute > 0) {
      const options = { pauseMs: 60_000 / plan.blobTransactionsPerMinute, ledger };
      users.push(new BlobSender(cluster, options), new BlobAttacker(cluster, options));
    }
    if (plan.users > 0 && plan.gapsPerMinute > 0) {
      users.push(new GapSender(cluster, { pauseMs: 60_000 / plan.gapsPerMinute, ledger }));
    }
    const speculated = new SpeculatedCounts(cluster);
    if (plan.users > 0 && plan.speculationThreads > 0) {
      for (const { index } of HEAVY_USERS)
        users.push(new User(cluster, { index, pauseMs: HEAVY_PAUSE_MS, ledger, workload: "heavy" }));
    }
    const rewinder =
      plan.rewindEveryMs > 0 ? new Rewinder(cluster, { pauseMs: plan.rewindEveryMs, ledger }) : undefined;
    rewinder?.onBegin(() => rpcProcess?.callMany());
    const voters = plan.hasVotes ? new Voters(cluster) : undefined;
    cluster.startAll();
    const faults = new FaultInjector(cluster);
    for (const fault of plan.faults) simulation.after(fault.atMs, undefined, () => faults.begin(fault));
    simulation.runUntil(plan.durationMs);
    if (simulation.violation === undefined)
      recover({ cluster, ledger, observers, users, voters, rewinder, faults, watcher });
    return {
      seed: plan.seed,
      nodes: plan.nodes.length,
      violation: simulation.violation,
      hash: simulation.trace.hash,
      virtualMs: simulation.now,
      events: simulation.events,
      messages: simulation.network.messages,
      blocks: ledger.head,
      acknowledged: ledger.acknowledged.size,
      speculated: speculated.totals(),
      lines: simulation.trace.lines,
    };
  } finally {
    leave();
  }
}

/** Somebody who sends transactions, until everything is healed. */
type Sender = {
  isActive: boolean;
  /** Transactions that a block has to take still. */
  readonly waiting: number;
};

type Parts = {
  readonly cluster: Cluster;
  readonly ledger: Ledger;
  readonly observers: readonly Observer[];
  readonly users: readonly Sender[];
  readonly voters: Voters | undefined;
  readonly rewinder: Rewinder | undefined;
  readonly faults: FaultInjector;
  readonly watcher: Watcher;
};

/** Heals everything, and waits until all nodes have shown the same blocks and nothing that was acknowledged waits. */
function recover({ cluster, ledger, observers, users, voters, rewinder, faults, watcher }: Parts): void {
  const { simulation } = cluster;
  simulation.log("operator", "everything is healed");
  faults.healAll();
  for (const user of users) user.isActive = false;
  if (voters) voters.isActive = false;
  if (rewinder) rewinder.isActive = false;
  const healedAt = simulation.now;
  const headThen = ledger.head;
  let settled = false;
  while (!settled && simulation.violation === undefined && simulation.now < healedAt + RECOVERY_MS) {
    simulation.runUntil(simulation.now + LOOK_MS);
    const isAtHead = observers.every(({ shown }) => shown >= ledger.head - 1);
    settled =
      isAtHead &&
      ledger.head >= headThen + 3 &&
      users.every(({ waiting }) => waiting === 0) &&
      watcher.unready.length === 0;
  }
  if (simulation.violation !== undefined) return;
  if (!settled) {
    const shown = observers.map((observer) => observer.shown).join(" ");
    const waiting = users.reduce((sum, user) => sum + user.waiting, 0);
    const facts = [
      `nodes show blocks ${shown}`,
      `the head was ${headThen}`,
      `${waiting} transactions wait`,
      ...watcher.unready,
    ];
    const text = `${RECOVERY_MS / 1000} s after everything was healed: ${facts.join("; ")}`;
    simulation.violate("liveness", text);
    return;
  }
  checkNothingLost(cluster, ledger);
  const unanswered = watcher.unanswered(UNANSWERED_MS);
  if (unanswered.length > 0) simulation.violate("liveness", `never answered: ${unanswered.join(", ")}`);
}

/** Everything acknowledged is in a block, or another transaction of its sender took its nonce. */
function checkNothingLost(cluster: Cluster, ledger: Ledger): void {
  for (const { hash, sender, nonce, node, atMs } of ledger.acknowledged.values()) {
    if (ledger.included.has(hash) || (ledger.nonces.get(sender) ?? -1) >= nonce) continue;
    // What only this node had, and lost with its disk, may be sent again.
    if (cluster.nodes[node]!.lostAt >= atMs) continue;
    cluster.simulation.violate("durability", `${hash} was acknowledged by node-${node} and is in no block`);
  }
}
