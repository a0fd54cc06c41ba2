import type { Failures } from "../../base/telemetry/failures.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { ForkInfo } from "../../rpc/ports/dev-info.ts";
import type { Listener } from "../adapters/rpc-endpoints.ts";
import type { Config } from "../config/config.ts";
import type { DevAccount, DevWallet } from "../keystore/dev-accounts.ts";

export type ChainStatus = {
  readonly chainId: bigint;
  readonly head: number;
  /** Unix seconds */
  readonly headTimestamp: number;
  /** The chain existed before this start. */
  readonly resumed: boolean;
  /** The block of another chain that this one continues. */
  readonly fork?: ForkInfo | undefined;
  /** Block 0, or the one that a fork continues. */
  readonly first: {
    readonly number: number;
    /** Unix seconds */
    readonly timestamp: number;
    readonly gasLimit: bigint;
    /** In wei; 0 before London. */
    readonly baseFeePerGas: bigint;
  };
  readonly devWallet: DevWallet;
  /** Unlocked accounts whose keys are public; none but on a dev chain. */
  readonly devAccounts: readonly DevAccount[];
};

export type RunningNode = {
  readonly listeners: readonly Listener[];
  readonly chain: ChainStatus;
  /** Resolves with the error when the node cannot continue; the caller still has to stop it. */
  readonly failure: Promise<unknown>;
  /** Logs and counts failures that no caller waits for. */
  readonly failures: Pick<Failures, "report">;
  /** Rejects new work, finishes the current block, closes the store. Calling it again returns the same promise. */
  stop(): Promise<void>;
};

export type Progress = {
  readonly done: number;
  /** undefined while it is not known */
  readonly total: number | undefined;
  readonly unit: "blocks" | "bytes";
};

/** Progress and cancellation of long work; `signal` stops it between two blocks. */
export type WorkOptions = {
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal;
};

/** Numbers of the oldest block, state and provable state that remain. */
type PruneResult = {
  readonly oldestBlock: number;
  readonly oldestState: number;
  readonly oldestProof: number;
  /** Bytes of the block log that can go, or went. */
  readonly logBytes: number;
};

type RollbackOptions = {
  /** So many blocks, or all after block `to`. */
  readonly back: { readonly blocks: number } | { readonly to: number };
  /** CometBFT's blocks are set aside as well: it gets them from its peers. */
  readonly fromPeers: boolean;
};

export type RollbackResult = {
  readonly head: number;
  readonly removed: number;
  /** What was removed, for `evmintd import`. */
  readonly file?: string;
  /** What CometBFT does at its next start, and what that needs. */
  readonly engine?: string;
};

/** The operations of the command line. Every call opens the store of `config.home` and closes it again. */
export type NodeOperations = {
  startNode(config: Config, log: Logger): Promise<RunningNode>;
  /**
   * Executes and appends the blocks of an RLP file, gzipped or not; blocks the chain has are skipped, so a second run
   * continues where the first stopped. When `signal` aborts, returns with what is done.
   */
  importChain(
    config: Config,
    log: Logger,
    options: WorkOptions & { readonly file: string },
  ): Promise<{ readonly imported: number; readonly skipped: number; readonly head: number }>;
  /** Writes blocks as concatenated RLP, gzipped when the name ends in `.gz`; both ends default to the whole chain. */
  exportChain(
    config: Config,
    log: Logger,
    options: WorkOptions & {
      readonly file: string;
      readonly first: number | undefined;
      readonly last: number | undefined;
      /** Each block has its access list before it; false if not given. */
      readonly hasAccessLists?: boolean;
    },
  ): Promise<{ readonly exported: number }>;
  /** Writes the state after a block, the head's unless named, as `geth dump` does. */
  exportState(
    config: Config,
    log: Logger,
    options: { readonly file: string; readonly block: number | undefined },
  ): Promise<{ readonly block: number; readonly accounts: number }>;
  /** Reads the whole store and compares checksums, hashes and roots, and executes blocks from `from` on again; one sentence for each fault. */
  checkStore(
    config: Config,
    log: Logger,
    options: WorkOptions & { readonly from?: number | undefined },
  ): Promise<{ readonly head: number; readonly faults: readonly string[] }>;
  /** Removes the newest blocks, which are in a file then. When `signal` aborts before that is written, nothing is removed. */
  rollback(config: Config, log: Logger, options: WorkOptions & RollbackOptions): Promise<RollbackResult>;
  /** Removes what the retention settings do not ask for; with `isDryRun` says what that is. @throws NothingToPruneError */
  prune(config: Config, log: Logger, options: WorkOptions & { readonly isDryRun: boolean }): Promise<PruneResult>;
  /** Copies the index into a file without free pages; undefined when it was stopped. */
  compact(
    config: Config,
    log: Logger,
    options: WorkOptions,
  ): Promise<{ readonly bytesBefore: number; readonly bytesAfter: number } | undefined>;
  /** Builds the index anew from the block log. */
  reindex(config: Config, log: Logger, options: WorkOptions): Promise<{ readonly head: number }>;
};
