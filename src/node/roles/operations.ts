import { setImmediate } from "node:timers/promises";
import { NodeError } from "../../base/errors.ts";
import type { Address } from "../../base/primitives/address.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Block } from "../../base/types/block.ts";
import type { Chain } from "../../chain/chain.ts";
import { divideCacheSize } from "../../chain/store/cache-sizes.ts";
import { compactIndex, findIndexFault } from "../../chain/store/index/index-files.ts";
import { adoptBackfilledLog, removeLeftovers } from "../../chain/store/replace-log.ts";
import type { ExecutionModules } from "../../evm/execution/block/block-execution.ts";
import { createImportThreads, type SpeculationThreads } from "../calls/speculation-threads.ts";
import { backfill } from "../chain-files/backfill.ts";
import { type FileBlock, importFileBlock, readChainFile } from "../chain-files/chain-file.ts";
import { chainFileSize } from "../chain-files/chain-file-io.ts";
import { wrongBlocks } from "../chain-files/execute-again.ts";
import { ListedExecutions } from "../chain-files/execute-ahead.ts";
import { exportState } from "../chain-files/export-state.ts";
import { exportChainFile, type ImportSteps, importChainFile } from "../chain-files/transfer-chain-file.ts";
import type { Config } from "../config/config.ts";
import { dataPath, setAsidePath } from "../config/home.ts";
import { executionModules } from "./chain/execution-modules.ts";
import { type OpenChain, openChain } from "./chain/open-chain.ts";
import { type RollbackEngine, rollBackChain, UnknownRangeError } from "./rollback.ts";
import { startNode } from "./start-node.ts";
import type { NodeOperations } from "./types.ts";

/** A block of the file is invalid on this chain or could not be stored; the blocks before it are imported. */
export class BlockRejectedError extends NodeError {
  readonly code = "IMPORT_BLOCK_REJECTED";
  constructor(details: { readonly number: number; readonly hash: string }, cause: Error) {
    super(`block ${details.number}: ${cause.message}`, details, { cause });
  }
}

/** The file does not continue this chain. */
export class ForeignImportError extends NodeError {
  readonly code = "IMPORT_FOREIGN";
}

/** Every retention setting is `archive`. */
export class NothingToPruneError extends NodeError {
  readonly code = "NOTHING_TO_PRUNE";
  constructor() {
    super("nothing to prune: set chain.retain-blocks, state.history or state.proofs to a number");
  }
}

/** Operations on a whole node for the command line. */
export const nodeOperations: NodeOperations = {
  startNode,

  async importChain(config, log, { file, onProgress, signal }) {
    const total = chainFileSize(file);
    const stepsOf = (chain: Chain, recorded?: ListedExecutions): ImportSteps => {
      const execution = { ...executionModules(chain), recorded };
      return {
        mayContinue: () => !signal.aborted,
        importBlock(fileBlock, senders) {
          assertContinues(chain, fileBlock.block);
          importOrReject(chain, fileBlock, senders, execution);
        },
        onBlock: (bytesRead) => onProgress({ done: bytesRead, total, unit: "bytes" }),
      };
    };
    let opened = openChain(config, { log, timers: fatalTimers }, { isBulk: true });
    let threads: SpeculationThreads | undefined;
    try {
      const filled = await fillBeforeBase(opened, { config, file, steps: stepsOf }, log);
      if (filled && !filled.isComplete) return filled.counts;
      if (filled) {
        opened.store.close();
        adoptBackfilledLog(dataPath(config.home));
        opened = openChain(config, { log, timers: fatalTimers }, { isBulk: true });
      }
      const { chain } = opened;
      threads = createImportThreads(config, log.child("evm"), opened, fatalTimers);
      const ahead = threads && new ListedExecutions(threads.listedLanes);
      const modules = { chain, log, timers: fatalTimers, ahead };
      const { imported, skipped } = await importChainFile(file, modules, stepsOf(chain, ahead));
      const before = filled?.counts.imported ?? 0;
      return {
        imported: before + imported,
        skipped: skipped - before,
        head: chain.head().block.header.number,
      };
    } finally {
      await threads?.close();
      opened.store.close();
    }
  },

  async exportChain(config, log, { file, first, last, hasAccessLists = false, onProgress, signal }) {
    const { chain, store } = openChain(config, { log, timers: fatalTimers });
    try {
      const head = chain.head().block.header.number;
      // A chain file starts after block 0, which the genesis file describes.
      const from = first ?? Math.min(1, head);
      const to = last ?? head;
      if (to > head || from > to) {
        throw new UnknownRangeError(`not all blocks from ${from} to ${to} exist: the head is ${head}`);
      }
      let done = 0;
      const exported = await exportChainFile(
        file,
        chain,
        { first: head === 0 && first === undefined ? 1 : from, last: to },
        {
          hasAccessLists,
          mayContinue: () => !signal.aborted,
          onBlock: () => onProgress({ done: ++done, total: to - from + 1, unit: "blocks" }),
        },
      );
      return { exported };
    } finally {
      store.close();
    }
  },

  async exportState(config, log, { file, block }) {
    const opened = openChain(config, { log, timers: fatalTimers });
    try {
      const head = opened.chain.head().block.header.number;
      const number = block ?? head;
      if (number > head) {
        throw new UnknownRangeError(`block ${number} does not exist: the head is ${head}`);
      }
      return { block: number, accounts: await exportState(file, number, opened) };
    } finally {
      opened.store.close();
    }
  },

  async checkStore(config, log, { from, onProgress, signal }) {
    // Opening repairs a damaged index, so it is checked first.
    const indexFault = findIndexFault(dataPath(config.home));
    const { chain, store } = openChain(config, { log, timers: fatalTimers });
    try {
      const head = chain.head().block.header.number;
      if (from !== undefined && (from > head || from <= chain.oldest().state)) {
        throw new UnknownRangeError(
          `cannot re-execute from block ${from}: only blocks ${chain.oldest().state + 1} to ${head} have their parent's state`,
        );
      }
      const report = store.check();
      const shown = report.faults.map(
        ({ kind, number, what }) => `${kind}${number === undefined ? "" : ` at block ${number}`}: ${what}`,
      );
      const hidden = report.faultCount - shown.length;
      const wrong: string[] = [];
      if (from !== undefined) {
        let done = 0;
        const blocks = wrongBlocks(
          chain,
          executionModules(chain),
          { first: from, last: head },
          {
            mayContinue: () => !signal.aborted,
            onBlock: () => onProgress({ done: ++done, total: head - from + 1, unit: "blocks" }),
          },
        );
        for await (const { number, what } of blocks) wrong.push(`re-executed block ${number}: ${what}`);
      }
      return {
        head,
        faults: [
          ...(indexFault ? [`index: ${indexFault}; it was rebuilt from the block log`] : []),
          ...shown,
          ...(hidden > 0 ? [`and ${hidden} more`] : []),
          ...wrong,
        ],
      };
    } finally {
      store.close();
    }
  },

  async rollback(config, log, { back, fromPeers, onProgress, signal }) {
    // The genesis file may already have the right rules, which the blocks to remove do not follow.
    const { chain, store, checkForks } = openChain(config, { log, timers: fatalTimers }, { checksForks: false });
    try {
      const to = "to" in back ? back.to : chain.head().block.header.number - back.blocks;
      const engine = await rollbackEngineOf(config, log);
      const options = { to, fromPeers, onProgress, signal };
      const result = await rollBackChain(options, {
        chain,
        store,
        setAsideDirectory: setAsidePath(config.home),
        engine,
      });
      if (!signal.aborted) checkForks();
      return result;
    } finally {
      store.close();
    }
  },

  async prune(config, log, { isDryRun, onProgress, signal }) {
    const { store } = openChain(config, { log, timers: fatalTimers }, { pruneAtOnce: true });
    try {
      while (!isDryRun && !signal.aborted && store.mergeSome()) await setImmediate();
      const plan = store.prunePlan();
      if (plan === undefined) throw new NothingToPruneError();
      const { blocks, states, proofs, logBytes } = plan;
      if (isDryRun) {
        return { oldestBlock: blocks, oldestState: states, oldestProof: proofs, logBytes };
      }
      const bytesBefore = store.logBytes;
      let total = 0;
      while (!signal.aborted && store.pruneSome()) {
        const left = store.blocksToPrune;
        total = Math.max(total, left);
        onProgress({ done: total - left, total, unit: "blocks" });
        await setImmediate();
      }
      return {
        oldestBlock: store.base() ?? 0,
        oldestState: store.stateBase(),
        oldestProof: store.proofBase(),
        logBytes: bytesBefore - store.logBytes,
      };
    } finally {
      store.close();
    }
  },

  async compact(config, log, { onProgress, signal }) {
    // Opens and closes the store first, so that the index has every block and is intact.
    openChain(config, { log, timers: fatalTimers }).store.close();
    return compactIndex(dataPath(config.home), {
      onProgress: ({ done, total }) => onProgress({ done, total, unit: "bytes" }),
      mayContinue: () => !signal.aborted,
    });
  },

  async reindex(config: Config, log) {
    const { chain, store } = openChain(config, { log, timers: fatalTimers }, { reindex: true, isBulk: true });
    const head = chain.head().block.header.number;
    store.close();
    return { head };
  },
};

/** CometBFT of a home whose lock is held; loaded only for `consensus.engine = cometbft`. */
async function rollbackEngineOf(config: Config, log: Logger): Promise<RollbackEngine | undefined> {
  if (config.consensus.engine !== "cometbft") return undefined;
  const { createRollbackEngine } = await import("./chain/network-engine.ts");
  return createRollbackEngine(config, log, fatalTimers);
}

/** Imports the blocks of `file` before the base of the chain; undefined if the file begins later. */
async function fillBeforeBase(
  opened: OpenChain,
  {
    config,
    file,
    steps,
  }: {
    readonly config: Config;
    readonly file: string;
    readonly steps: (chain: Chain) => ImportSteps;
  },
  log: Logger,
) {
  const { chain, store } = opened;
  const directory = dataPath(config.home);
  removeLeftovers(directory);
  const base = store.base() ?? 0;
  if (base === 0 || (await firstNumberIn(file)) >= base) return undefined;
  log.info("importing the blocks before the first stored one", { base });
  const caches = divideCacheSize(config.cache.bytes);
  const result = await backfill(
    opened,
    { directory, file, caches, steps, executionOf: executionModules },
    { log, timers: fatalTimers },
  );
  const { imported, skipped, isComplete } = result;
  return { isComplete, counts: { imported, skipped, head: chain.head().block.header.number } };
}

/** Number of the first block of the chain file; infinite if it is empty. */
async function firstNumberIn(file: string): Promise<number> {
  for await (const { header } of readChainFile(file)) return header.number;
  return Number.POSITIVE_INFINITY;
}

/** @throws ForeignImportError for a block that does not build on the head */
function assertContinues(chain: Chain, { header }: Block): void {
  const { block: head } = chain.head();
  const next = head.header.number + 1;
  if (header.number !== next) {
    throw new ForeignImportError(
      `the file continues with block ${header.number}, but this chain needs block ${next} first`,
      { number: header.number, next },
    );
  }
  if (header.parentHash === head.hash) return;
  throw new ForeignImportError(
    `the file belongs to another chain: its block ${next} builds on ${header.parentHash}, but block ${next - 1} of this chain is ${head.hash}; use a home with the file's genesis (evmintd init --genesis FILE; for a dev chain --genesis FILE, or its --timestamp)`,
    { number: header.number, parentHash: header.parentHash, head: head.hash },
  );
}

/** @throws BlockRejectedError with the rejection as its cause */
function importOrReject(
  chain: Chain,
  fileBlock: FileBlock,
  senders: readonly Address[],
  execution: ExecutionModules,
): void {
  const { block } = fileBlock;
  try {
    importFileBlock(chain, { ...fileBlock, senders }, execution);
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    throw new BlockRejectedError({ number: block.header.number, hash: block.hash }, error);
  }
}
