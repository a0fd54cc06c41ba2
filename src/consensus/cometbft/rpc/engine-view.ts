import type { Logger } from "../../../base/telemetry/logger.ts";
import type { ConsensusStep } from "../../engine.ts";
import { commitTimeoutMs, EVIDENCE_AGE_BLOCKS, TRUST_HOURS } from "../home/config.ts";
import type { EnginePeer, EngineRound, EngineStatus } from "./answers.ts";
import type { EngineRpc } from "./client.ts";

type EngineViewModules = {
  readonly rpc: Pick<EngineRpc, "status" | "peers" | "round">;
  /** Height of the oldest snapshot that this node offers; undefined if none. */
  readonly oldestSnapshot: () => number | undefined;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly log: Logger;
};

/** The latest state of CometBFT that its RPC reports and ABCI does not. */
export class EngineView {
  readonly #options: RetainOptions;
  readonly #modules: EngineViewModules;
  readonly #quorumWatch: QuorumWatch;
  #isRefreshing = false;
  #status: EngineStatus | undefined;
  #peers: readonly EnginePeer[] = [];
  #round: EngineRound | undefined;
  #retainHeight = 0;

  constructor(options: RetainOptions, modules: EngineViewModules) {
    this.#options = options;
    this.#modules = modules;
    this.#quorumWatch = new QuorumWatch(options, modules.now);
  }

  /** undefined while CometBFT does not answer. */
  get status(): EngineStatus | undefined {
    return this.#status;
  }

  get peers(): readonly EnginePeer[] {
    return this.#peers;
  }

  get step(): ConsensusStep | undefined {
    return this.#round?.step;
  }

  /** undefined while CometBFT does not answer. */
  get round(): EngineRound | undefined {
    return this.#round;
  }

  get quorum(): Quorum {
    return this.#quorumWatch.quorum;
  }

  /** The retain height in each commit's answer to CometBFT; 0 while its store is unknown. */
  get retainHeight(): number {
    return this.#retainHeight;
  }

  /** A block was committed. */
  committed(): void {
    this.#quorumWatch.committed();
  }

  /** CometBFT ends and will restart: its answers do not apply to the next process. */
  forget(): void {
    this.#see(undefined, [], undefined);
  }

  async refresh(): Promise<void> {
    // A refresh can take longer than the interval.
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    const { rpc, log } = this.#modules;
    try {
      this.#see(...(await Promise.all([rpc.status(), rpc.peers(), rpc.round()])));
    } catch (error) {
      this.#see(undefined, [], undefined);
      log.debug("CometBFT does not answer", { error });
    } finally {
      this.#isRefreshing = false;
    }
  }

  #see(status: EngineStatus | undefined, peers: readonly EnginePeer[], round: EngineRound | undefined): void {
    this.#status = status;
    this.#peers = peers;
    this.#round = round;
    this.#quorumWatch.observe(status?.isCatchingUp === false ? round : undefined);
    this.#retainHeight = status === undefined ? 0 : this.#retainHeightAt(status);
  }

  #retainHeightAt({ earliestHeight, latestHeight }: EngineStatus): number {
    // Reads the snapshots on disk only if needed.
    if (this.#options.retainBlocks === null || earliestHeight === 0) return 0;
    return retainHeight(this.#options, {
      height: latestHeight,
      earliest: earliestHeight,
      oldestSnapshot: this.#modules.oldestSnapshot(),
    });
  }
}

/** Whether validators with more than two thirds of the voting power take part in deciding the next block. */
export type Quorum = "present" | "absent" | "unknown";

/** A network that makes blocks has a quorum, even though polls between two rounds of votes see none. */
const QUIET_MS = 10_000;
const QUIET_BLOCKS = 5;

/**
 * Detects a quorum from blocks and arriving votes. CometBFT has verified the votes' signatures, and leaves a round only with the votes of more
 * than two thirds. Connected peers prove nothing: they may not be validators, and a follower may forward others' votes. Earlier votes prove
 * nothing either: CometBFT keeps them while it waits, and reads them from its journal after a restart.
 */
export class QuorumWatch {
  readonly #pace: { readonly blockTimeMs: number };
  readonly #now: () => number;
  /** When a quorum last acted. */
  #seenAt = Number.NEGATIVE_INFINITY;
  #round: (EngineRound & { readonly isVoted: boolean }) | undefined;

  /**
   * @param pace may change from block to block
   * @param now monotonic milliseconds
   */
  constructor(pace: { readonly blockTimeMs: number }, now: () => number) {
    this.#pace = pace;
    this.#now = now;
  }

  committed(): void {
    this.#seenAt = this.#now();
  }

  /** @param round undefined while CometBFT does not answer or fetches blocks, which are decided without its votes */
  observe(round: EngineRound | undefined): void {
    const last = this.#round;
    const next = round && { ...round, isVoted: round.votedPower * 3 > round.totalPower * 2 };
    this.#round = next;
    if (last === undefined || next === undefined) return;
    const isNext = next.step.height !== last.step.height || next.step.round !== last.step.round;
    if (isNext || (next.isVoted && !last.isVoted)) this.#seenAt = this.#now();
  }

  get quorum(): Quorum {
    const quietMs = Math.max(QUIET_MS, QUIET_BLOCKS * this.#pace.blockTimeMs);
    if (this.#now() - this.#seenAt < quietMs) return "present";
    // Votes without progress: their validators are gone, or consensus stands still.
    return this.#round === undefined || this.#round.isVoted ? "unknown" : "absent";
  }
}

type RetainOptions = {
  /** Number of newest blocks that the chain stores; null: all. */
  readonly retainBlocks: number | null;
  readonly blockTimeMs: number;
  /** Present if the validators agreed on it. */
  readonly evidenceAgeSeconds?: number | undefined;
};

type RetainHeights = {
  /** Height of the newest block. */
  readonly height: number;
  /** Height of the first block in CometBFT's store. */
  readonly earliest: number;
  /** Height of the oldest snapshot that this node offers; undefined if none. */
  readonly oldestSnapshot: number | undefined;
};

/** CometBFT removes blocks while it commits one: this many take about ten milliseconds. */
const BLOCKS_AT_A_TIME = 1_000;

/**
 * The height before which CometBFT removes its blocks, or 0 to remove none. It follows the chain's retention, but keeps blocks that others need:
 * blocks that evidence can name, from which a light client begins, or after a snapshot. CometBFT itself keeps headers and commits for evidence
 * according to its chain's parameters.
 */
export function retainHeight(
  { retainBlocks, blockTimeMs, evidenceAgeSeconds = 0 }: RetainOptions,
  { height, earliest, oldestSnapshot = height }: RetainHeights,
): number {
  if (retainBlocks === null) return 0;
  const blocksIn = (seconds: number) => Math.ceil((seconds * 1_000) / commitTimeoutMs(blockTimeMs));
  const trusted = blocksIn(TRUST_HOURS * 3_600);
  const retained = Math.max(retainBlocks, EVIDENCE_AGE_BLOCKS, trusted, blocksIn(evidenceAgeSeconds));
  const wanted = Math.min(height - retained + 1, oldestSnapshot, earliest + BLOCKS_AT_A_TIME);
  return wanted > earliest ? wanted : 0;
}
