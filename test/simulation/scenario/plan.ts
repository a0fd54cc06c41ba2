import { Random } from "../kernel/random.ts";

/** Settings of one node. */
export type NodePlan = {
  readonly isValidator: boolean;
  /** By key, as flags would set them. */
  readonly settings: Readonly<Record<string, string>>;
  /** Bytes of a segment of the block log at most: small ones make files begin and end often. */
  readonly segmentBytes: number;
  /** Blocks that wait in memory before a merge into the index begins. */
  readonly mergeBlocks: number;
  /** Keys that a merge writes in one transaction: with few, a kill comes between two of them. */
  readonly mergeKeys: number;
  /** Bytes of the log that a start reads before it commits their rows. */
  readonly replayBytes: number;
  /** Its clock's error in milliseconds, and its drift in millionths. */
  readonly clockMs: number;
  readonly driftPpm: number;
  /** Nodes that it dials, by index. Under the solo engine: none of them matter. */
  readonly dials: readonly number[];
  /** It begins with a snapshot of the network, so many milliseconds after the others. 0: with them */
  readonly joinsAtMs: number;
};

/** Something that goes wrong: when, where, for how long. Plain data, so that a plan can be printed, cut down and repeated. */
export type Fault = {
  readonly atMs: number;
  readonly forMs: number;
  readonly node: number;
  readonly kind: FaultKind;
  /** [0, 1): the extent, or the exact position. */
  readonly extent: number;
};

export const FAULT_KINDS = [
  "kill",
  "kill-engine",
  "kill-at-write",
  "power-cut",
  "power-cut-at-write",
  "power-cut-all",
  "stop",
  "pause",
  "slow-disk",
  "full-disk",
  "failed-sync",
  "index-rot",
  "log-rot",
  "lossy-link",
  "slow-link",
  "slow-network",
  "cut-off",
  "cut-one-way",
  "split",
  "clock-jump",
  "clock-drift",
  "wipe",
  "wipe-data",
  "restore-backup",
  "hostile-votes",
  "hostile-proposals",
  "hostile-gossip",
  "hostile-snapshots",
  "hostile-handshake",
  "hostile-silence",
  "hostile-amnesia",
  "hostile-ballots",
  "late-fork",
  "failing-engine",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export type Plan = {
  readonly seed: string;
  readonly engine: "solo" | "cometbft";
  readonly blockTimeMs: number;
  readonly nodes: readonly NodePlan[];
  /** How long faults happen. Afterwards everything is healed, and the chain has to be well again. */
  readonly durationMs: number;
  readonly faults: readonly Fault[];
  /** Voting power of each validator of the genesis. With 1, CometBFT counts each of up to five as one that others may wait for. */
  readonly power: number;
  readonly users: number;
  /** Whether the validators vote followers in and out. */
  readonly hasVotes: boolean;
  /** Transactions that all users together send, for each minute. */
  readonly transactionsPerMinute: number;
  /** Blob transactions per minute of one user, and as many with wrong proofs by others; 0: none. */
  readonly blobTransactionsPerMinute: number;
  /** How often one user sends transactions whose nonces begin after a gap, which it fills later; 0: never. */
  readonly gapsPerMinute: number;
  /** Whether the first node executes calls in threads, and a process beside it does. */
  readonly hasCalls: boolean;
  /** Threads that execute transactions of the next block ahead, and whose answers come in any order, late or never; 0: none do. */
  readonly speculationThreads: number;
  /** An operator removes the newest blocks so often, on average; 0: never. */
  readonly rewindEveryMs: number;
  /** The newest fork of the chain. */
  readonly fork: "osaka" | "amsterdam";
  /** `fork` begins so long after block 0, and the forks before it with block 0; 0: all begin with it. */
  readonly forkAfterMs: number;
};

export type PlanOptions = {
  readonly seed: string;
  /** Drawn where it is not given: one node under the solo engine, or a network. */
  readonly nodes?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly engine?: Plan["engine"] | undefined;
  readonly speculationThreads?: number | undefined;
};

/** What is left of a plan that was cut down to what a violation takes. */
export type Cut = {
  /** The first so many nodes. */
  readonly nodes?: number | undefined;
  /** Faults by their place in the whole plan. */
  readonly faults?: readonly number[] | undefined;
  readonly users?: number | undefined;
};

export function cutPlan(plan: Plan, { nodes = plan.nodes.length, faults, users = plan.users }: Cut): Plan {
  const left = plan.nodes
    .slice(0, nodes)
    .map((node) => ({ ...node, dials: node.dials.filter((each) => each < nodes) }));
  return {
    ...plan,
    nodes: left,
    faults: (faults ? faults.map((index) => plan.faults[index]!) : plan.faults).filter(({ node }) => node < nodes),
    users,
  };
}

const SOLO_FAULTS: readonly FaultKind[] = [
  "kill",
  "kill-at-write",
  "power-cut",
  "power-cut-at-write",
  "stop",
  "pause",
  "slow-disk",
  "full-disk",
  "failed-sync",
  "index-rot",
  "clock-drift",
];

/** They are drawn on their own. */
const KINDS_OF_SOME_PLANS: readonly FaultKind[] = ["hostile-ballots", "failing-engine"];

/** Of a network: faults that at most a third of the validators may meet at once, and faults that all may. */
const NETWORK_FAULTS: readonly FaultKind[] = FAULT_KINDS.filter(
  (kind) => !["log-rot", ...KINDS_OF_SOME_PLANS].includes(kind),
);

/** Everything that a seed decides before the first event. */
export function planOf(options: PlanOptions): Plan {
  const { seed } = options;
  const random = new Random(`plan ${seed}`);
  const drawnCount = random.pick([1, 1, 1, 4, 4, 4, 5, 7]);
  const count = options.nodes ?? (options.engine === "solo" ? 1 : drawnCount);
  const isSolo = random.chance(0.8);
  const engine = options.engine ?? (count === 1 && isSolo ? "solo" : "cometbft");
  const blockTimeMs = random.pick(engine === "solo" ? [250, 1_000, 1_000, 2_000, 5_000] : [1_000, 1_000, 2_000, 5_000]);
  const drawnMinutes = random.integer(1, 4);
  const durationMs = options.durationMs ?? drawnMinutes * 60_000;
  const drawnFollowers = random.integer(0, Math.floor((count - 1) / 4));
  const followers = count >= 5 ? drawnFollowers : 0;
  const validators = count - followers;
  const nodes = Array.from({ length: count }, (_, index) =>
    nodePlanOf(random.stream(`node ${index}`), { index, engine, validators, count, blockTimeMs, durationMs }),
  );
  const drawnFaults = faultsOf(random, { kinds: engine === "solo" ? SOLO_FAULTS : NETWORK_FAULTS, count, durationMs });
  const attacks = attacksOnJoining(random.stream("attacks on joining"), nodes, validators);
  const power = random.pick([1, 10]);
  const users = random.integer(1, 6);
  const hasVotes = followers > 0 && random.chance(0.5);
  const failing = engine === "cometbft" ? failingEngines(random.stream("failing engines"), count, durationMs) : [];
  const ballots = hasVotes ? attacksOnVotes(random.stream("attacks on votes"), validators, durationMs) : [];
  return {
    seed,
    engine,
    blockTimeMs,
    nodes,
    durationMs,
    faults: [...drawnFaults, ...attacks, ...ballots, ...failing].sort((a, b) => a.atMs - b.atMs),
    power,
    users,
    hasVotes,
    transactionsPerMinute: random.pick([0, 6, 20, 60, 120]),
    fork: random.stream("fork").chance(0.5) ? "amsterdam" : "osaka",
    // Block 0 is a minute before the start.
    forkAfterMs: random.chance(0.3) ? random.integer(30_000, durationMs + 30_000) : 0,
    blobTransactionsPerMinute: blobRateOf(random.stream("blobs")),
    gapsPerMinute: gapRateOf(random.stream("gaps")),
    hasCalls: random.stream("calls").chance(0.2),
    speculationThreads:
      options.speculationThreads ?? (engine === "solo" ? speculationThreadsOf(random.stream("speculation")) : 0),
    rewindEveryMs: engine === "solo" ? rewindPauseOf(random.stream("rewinds")) : 0,
  };
}

function speculationThreadsOf(random: Random): number {
  return random.chance(0.4) ? random.integer(1, 3) : 0;
}

function rewindPauseOf(random: Random): number {
  return random.chance(0.25) ? random.pick([10_000, 30_000]) : 0;
}

/** A blob has 128 KiB, which every node reads, hashes and writes: few plans have them, and few of them. */
function blobRateOf(random: Random): number {
  return random.chance(0.25) ? random.pick([2, 4, 6]) : 0;
}

function gapRateOf(random: Random): number {
  return random.chance(0.3) ? random.pick([4, 12]) : 0;
}

/** A node that joins looks for snapshots for 15 s: they have to be there still when it asks for their parts. */
const SNAPSHOT_INTERVALS_MS = [30_000, 60_000];

type Place = {
  readonly index: number;
  readonly engine: Plan["engine"];
  readonly validators: number;
  readonly count: number;
  readonly blockTimeMs: number;
  readonly durationMs: number;
};

function nodePlanOf(random: Random, { index, engine, validators, count, blockTimeMs, durationMs }: Place): NodePlan {
  const isValidator = index < validators;
  const settings: Record<string, string> = {};
  const isPruned = random.chance(0.3);
  if (isPruned) settings["chain.retain-blocks"] = String(random.integer(128, 200));
  if (isPruned || random.chance(0.2)) settings["state.history"] = String(random.integer(128, 160));
  if (random.chance(0.2)) settings["state.proofs"] = "128";
  if (random.chance(0.3)) settings["index.addresses"] = "true";
  if (engine === "cometbft" && random.chance(0.7)) {
    settings["snapshot.interval"] = String(random.pick(SNAPSHOT_INTERVALS_MS) / blockTimeMs);
  }
  if (random.chance(0.3)) settings["cache.size"] = random.pick(["1MiB", "8MiB"]);
  const others = Array.from({ length: count }, (_, other) => other).filter((other) => other !== index);
  const isBehindOne = !isValidator && random.chance(0.5);
  const joinsLate = engine === "cometbft" && !isValidator && random.chance(0.5);
  return {
    isValidator,
    settings,
    segmentBytes: random.pick([16_384, 65_536, 1 << 22]),
    mergeBlocks: random.pick([2, 8, 32, 1_000]),
    mergeKeys: random.stream("merge keys").pick([2, 8, 2_000]),
    replayBytes: random.stream("replay bytes").pick([2_000, 10_000, 8 << 20]),
    clockMs: index === 0 || random.chance(0.5) ? 0 : random.between(-2_000, 2_000),
    driftPpm: random.between(-100, 100),
    dials: isBehindOne ? [random.below(validators)] : others.filter((other) => other < validators),
    joinsAtMs: joinsLate ? Math.floor(random.between(0.3, 0.8) * durationMs) : 0,
  };
}

/** A joining node deserves a separate attack: it takes data from peers only once, and for good. */
function attacksOnJoining(random: Random, nodes: readonly NodePlan[], validators: number): Fault[] {
  return nodes
    .filter(({ joinsAtMs }) => joinsAtMs > 0 && random.chance(0.5))
    .map(({ joinsAtMs }) => ({
      atMs: Math.max(0, joinsAtMs - 1_000),
      forMs: 60_000,
      node: random.below(validators),
      kind: "hostile-snapshots",
      extent: random.fraction(),
    }));
}

/** A proposer that casts its vote again and again. */
function attacksOnVotes(random: Random, validators: number, durationMs: number): Fault[] {
  if (random.chance(0.5)) return [];
  const node = random.below(validators);
  return [{ atMs: 2_000, forMs: durationMs, node, kind: "hostile-ballots", extent: random.fraction() }];
}

/** An engine that ends at each start, as with a port that another program has. */
function failingEngines(random: Random, count: number, durationMs: number): Fault[] {
  if (random.chance(0.85)) return [];
  const [atMs, forMs] = [Math.floor(random.between(5_000, durationMs)), Math.floor(random.between(5_000, 60_000))];
  return [{ atMs, forMs, node: random.below(count), kind: "failing-engine", extent: random.fraction() }];
}

type FaultOptions = { readonly kinds: readonly FaultKind[]; readonly count: number; readonly durationMs: number };

function faultsOf(random: Random, { kinds, count, durationMs }: FaultOptions): Fault[] {
  // A few kinds for each seed, so that runs differ.
  const chosen = random.shuffled(kinds).slice(0, random.integer(1, 5));
  const total = Math.ceil((random.pick([0, 2, 5, 10, 20]) * durationMs) / 240_000);
  return Array.from({ length: total }, () => ({
    atMs: Math.floor(random.between(2_000, durationMs)),
    forMs: Math.floor(random.pick([500, 5_000, 20_000, 60_000]) * random.between(0.5, 1.5)),
    node: random.below(count),
    kind: random.pick(chosen),
    extent: random.fraction(),
  })).sort((a, b) => a.atMs - b.atMs);
}
