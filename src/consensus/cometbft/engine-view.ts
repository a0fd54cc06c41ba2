import type { Logger } from "../../telemetry/logger.ts";
import type { ConsensusStep } from "../engine.ts";
import type { EnginePeer, EngineRound, EngineStatus } from "./engine-answers.ts";
import type { EngineRpc } from "./engine-rpc.ts";
import { type Quorum, QuorumWatch } from "./quorum-watch.ts";
import { type RetainOptions, retainHeight } from "./retain-height.ts";

export type EngineViewModules = {
  readonly rpc: Pick<EngineRpc, "status" | "peers" | "round">;
  /** Height of the oldest snapshot that this node offers; undefined where there is none. */
  readonly oldestSnapshot: () => number | undefined;
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
  readonly log: Logger;
};

/** CometBFT as its RPC showed it last: what ABCI does not tell. */
export class EngineView {
  readonly #options: RetainOptions;
  readonly #modules: EngineViewModules;
  readonly #quorumWatch: QuorumWatch;
  #isRefreshing = false;
  #status: EngineStatus | undefined;
  #peers: readonly EnginePeer[] = [];
  #step: ConsensusStep | undefined;
  #retainHeight = 0;

  constructor(options: RetainOptions, modules: EngineViewModules) {
    this.#options = options;
    this.#modules = modules;
    this.#quorumWatch = new QuorumWatch(options.blockTimeMs, modules.now);
  }

  /** undefined while CometBFT does not answer. */
  get status(): EngineStatus | undefined {
    return this.#status;
  }

  get peers(): readonly EnginePeer[] {
    return this.#peers;
  }

  get step(): ConsensusStep | undefined {
    return this.#step;
  }

  get quorum(): Quorum {
    return this.#quorumWatch.quorum;
  }

  /** What CometBFT is told to keep with each commit; 0 while its store is not known. */
  get retainHeight(): number {
    return this.#retainHeight;
  }

  /** A block was committed. */
  committed(): void {
    this.#quorumWatch.committed();
  }

  async refresh(): Promise<void> {
    // It can take longer than the time to the next one.
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

  #see(
    status: EngineStatus | undefined,
    peers: readonly EnginePeer[],
    round: EngineRound | undefined,
  ): void {
    this.#status = status;
    this.#peers = peers;
    this.#step = round?.step;
    this.#quorumWatch.observe(status?.isCatchingUp === false ? round : undefined);
    this.#retainHeight = status === undefined ? 0 : this.#retainHeightAt(status);
  }

  #retainHeightAt({ earliestHeight, latestHeight }: EngineStatus): number {
    // Only then are the snapshots on disk looked at.
    if (this.#options.retainBlocks === null || earliestHeight === 0) return 0;
    return retainHeight(this.#options, {
      height: latestHeight,
      earliest: earliestHeight,
      oldestSnapshot: this.#modules.oldestSnapshot(),
    });
  }
}
