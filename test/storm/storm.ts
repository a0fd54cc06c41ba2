import type { KillKind } from "./kill-plan.ts";

/** One kill, and what followed. */
export type KillResult = {
  readonly kind: KillKind;
  /** Number of validators killed at once; each counts as one kill. */
  readonly nodes: number;
  /** The named step, where it was reached. */
  readonly step: string | undefined;
  /** From the spawn of the next process to its first answer; undefined where the node lived on. Milliseconds. */
  readonly restartMs: number | undefined;
  /** From that spawn to the next block that a client was notified of; undefined where the next kill came first. */
  readonly blockMs: number | undefined;
};

export type StormOptions = {
  /** Decides settings, load and kills. */
  readonly seed: number;
  readonly kills: number;
  /** An empty folder of this storm's own. */
  readonly directory: string;
  /** Ports from here on are free, 100 of them. */
  readonly firstPort: number;
  readonly onKill: (result: KillResult) => void;
  /** Aborted: the storm ends after the kill that it is at. */
  readonly signal?: AbortSignal;
};

/** Totals of a home. */
export type HomeReport = {
  readonly blocks: number;
  /** How many of them. */
  readonly blocksOfAmsterdam: number;
  readonly transactionsAnswered: number;
  readonly receiptsSeen: number;
  readonly blocksSeen: number;
  /** What became of transactions that threads executed ahead, by outcome, as the metrics of living nodes showed it. */
  readonly speculated: Readonly<Record<string, number>>;
  /** CometBFT processes that outlived their node, and that its next start killed. */
  readonly leftovers: number;
};

/** Homes whose nodes are killed. */
export interface Storm {
  /** @throws StormFailure with the plan of the kill after which something was wrong */
  run(): Promise<HomeReport>;
}
