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
  /** Whether the chain existed before this start. */
  readonly resumed: boolean;
  /** The block of another chain that this chain continues. */
  readonly fork?: ForkInfo | undefined;
  /** Block 0, or the forked block. */
  readonly first: {
    readonly number: number;
    /** Unix seconds */
    readonly timestamp: number;
    readonly gasLimit: bigint;
    /** In wei; 0 before London. */
    readonly baseFeePerGas: bigint;
  };
  readonly devWallet: DevWallet;
  /** Unlocked accounts with public keys; empty unless it is a dev chain. */
  readonly devAccounts: readonly DevAccount[];
};

export type RunningNode = {
  readonly listeners: readonly Listener[];
  readonly chain: ChainStatus;
  /** Resolves with the error when the node cannot continue; the caller must still stop it. */
  readonly failure: Promise<unknown>;
  /** Logs and counts failures that no caller awaits. */
  readonly failures: Pick<Failures, "report">;
  /** Rejects new work, finishes the current block, closes the store. Calling it again returns the same promise. */
  stop(): Promise<void>;
};

export type Progress = {
  readonly done: number;
  /** undefined while unknown */
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
  /** Bytes of the block log to remove, or removed. */
  readonly logBytes: number;
};

type RollbackOptions = {
  /** Removes this many blocks, or all after block `to`. */
  readonly back: { readonly blocks: number } | { readonly to: number };
  /** Also sets CometBFT's blocks aside: it fetches them from its peers. */
  readonly fromPeers: boolean;
};

export type RollbackResult = {
  readonly head: number;
  readonly removed: number;
  /** File with the removed blocks, for `evmintd import`. */
  readonly file?: string;
  /** What CometBFT does at its next start, and its requirements. */
  readonly engine?: string;
};

/** The operations of the command line. Each call opens and closes the store of `config.home`. */
export type NodeOperations = {
  startNode(config: Config, log: Logger): Promise<RunningNode>;
  /**
   * Executes and appends the blocks of an RLP file, gzipped or not. Skips blocks that the chain has, so a second run continues where the first
   * stopped. If `signal` aborts, returns the result so far.
   */
  importChain(
    config: Config,
    log: Logger,
    options: WorkOptions & { readonly file: string },
  ): Promise<{ readonly imported: number; readonly skipped: number; readonly head: number }>;
  /** Writes blocks as concatenated RLP, gzipped if the name ends in `.gz`; the range defaults to the whole chain. */
  exportChain(
    config: Config,
    log: Logger,
    options: WorkOptions & {
      readonly file: string;
      readonly first: number | undefined;
      readonly last: number | undefined;
      /** Whether each block's access list precedes it; default: false. */
      readonly hasAccessLists?: boolean;
    },
  ): Promise<{ readonly exported: number }>;
  /** Writes the state after a block, by default the head, as `geth dump` does. */
  exportState(
    config: Config,
    log: Logger,
    options: { readonly file: string; readonly block: number | undefined },
  ): Promise<{ readonly block: number; readonly accounts: number }>;
  /** Reads the whole store, verifies checksums, hashes and roots, and executes blocks from `from` on again. @returns one sentence per fault */
  checkStore(
    config: Config,
    log: Logger,
    options: WorkOptions & { readonly from?: number | undefined },
  ): Promise<{ readonly head: number; readonly faults: readonly string[] }>;
  /** Removes the newest blocks after writing them to a file. If `signal` aborts before that, nothing is removed. */
  rollback(config: Config, log: Logger, options: WorkOptions & RollbackOptions): Promise<RollbackResult>;
  /** Removes data that the retention settings do not require; with `isDryRun` only reports it. @throws NothingToPruneError */
  prune(config: Config, log: Logger, options: WorkOptions & { readonly isDryRun: boolean }): Promise<PruneResult>;
  /** Copies the index to a file without free pages; undefined if it was stopped. */
  compact(
    config: Config,
    log: Logger,
    options: WorkOptions,
  ): Promise<{ readonly bytesBefore: number; readonly bytesAfter: number } | undefined>;
  /** Rebuilds the index from the block log. */
  reindex(config: Config, log: Logger, options: WorkOptions): Promise<{ readonly head: number }>;
};
