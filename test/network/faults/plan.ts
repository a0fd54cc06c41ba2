import { mulberry32 } from "../../support/chain/random-chain.ts";

/** Each as often as the others, in a drawn order. */
export const FAULT_KINDS = [
  "kill -9 of the node",
  "kill -9 of CometBFT",
  "kill -9 of both",
  "SIGSTOP of the node",
  "SIGSTOP of CometBFT",
  "SIGSTOP of both",
  "data/ lost",
  "cometbft/data/ lost",
  "cometbft/data/ lost, signing state kept",
  "data/ and cometbft/data/ lost",
  "data/ and cometbft/data/ lost, signing state kept",
  "restored from a backup",
  "hears nothing",
  "is not heard",
  "cut off",
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

export type Fault = {
  readonly kind: FaultKind;
  /** Index of the node that it happens to. */
  readonly node: number;
  /** How long the node is stopped or apart. */
  readonly seconds: number;
  /** Nodes that are backed up before it. */
  readonly backups: readonly number[];
};

export type PlanOptions = {
  /** Decides the order. */
  readonly seed: number;
  readonly faults: number;
  readonly nodes: number;
  /** Of the nodes, the first. */
  readonly validators: number;
  /** Nodes are stopped and apart for 3 seconds to so many. */
  readonly secondsMax: number;
};

const SECONDS_MIN = 3;
/** A backup is so many faults old when a node is restored from it, where there were so many. */
const BACKUP_AGE_MIN = 1;
const BACKUP_AGE_MAX = 6;

/** The faults of a run, the same for the same options. */
export function planFaults({ seed, faults, nodes, validators, secondsMax }: PlanOptions): readonly Fault[] {
  // Neighbouring seeds begin with much the same numbers.
  const random = mulberry32(Math.imul(seed, 0x9e3779b1));
  const below = (bound: number) => Math.floor(random() * bound);
  const kinds: FaultKind[] = [];
  while (kinds.length < faults) kinds.push(...shuffled(FAULT_KINDS, below));
  kinds.length = faults;
  // Nothing is old enough before the first fault.
  const first = kinds.findIndex((kind) => kind !== "restored from a backup");
  if (first > 0) [kinds[0], kinds[first]] = [kinds[first]!, kinds[0]!];
  const backups = kinds.map((): number[] => []);
  const planned = kinds.map((kind, index) => {
    // Every second one is a validator's, however many other nodes there are.
    const node = random() < 0.5 ? below(validators) : below(nodes);
    const seconds = SECONDS_MIN + below(secondsMax - SECONDS_MIN + 1);
    const age = BACKUP_AGE_MIN + below(BACKUP_AGE_MAX - BACKUP_AGE_MIN + 1);
    if (kind === "restored from a backup") backups[Math.max(0, index - age)]!.push(node);
    return { kind, node, seconds };
  });
  return planned.map((fault, index) => ({ ...fault, backups: backups[index]! }));
}

function shuffled<T>(items: readonly T[], below: (bound: number) => number): T[] {
  const left = [...items];
  return items.map(() => left.splice(below(left.length), 1)[0]!);
}
