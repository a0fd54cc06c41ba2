import { existsSync, renameSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { NodeError } from "../../base/errors.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import type { Chain } from "../../chain/chain.ts";
import { makeFolder, syncDirectory } from "../../store/storage/make-folder.ts";
import {
  decodeWaitingBlock,
  type ExportedChain,
  exportFileBlock,
  type FileBlock,
  readChainFile,
  type WaitingBlock,
} from "./chain-file.ts";
import { writeChainFile } from "./chain-file-io.ts";
import type { ListedExecutions } from "./execute-ahead.ts";
import { createSenderRecovery, recoverAhead, type SenderRecovery } from "./recover-ahead.ts";

/** The chain has a different block at the number of a block in the file. */
export class ForkedImportError extends NodeError {
  readonly code = "IMPORT_FORKS";
  constructor(details: {
    readonly number: number;
    readonly ours: string;
    readonly theirs: string;
  }) {
    super(`block ${details.number} is ${details.ours} on this chain, but ${details.theirs} in the file`, details);
  }
}

/** Blocks to read ahead of execution for each thread, so that none waits. Each has at most 8 MiB. */
const BLOCKS_AHEAD = 2;
/**
 * One thread per processor, although this thread executes meanwhile: recovery takes as long as execution, and waiting for the other leaves a
 * processor idle. More than four threads recover faster than one thread executes transfers.
 */
const RECOVERY_THREADS_MAX = 4;

export type ImportSteps = {
  /** Called before each block: false ends the import. */
  readonly mayContinue: () => boolean;
  /** Executes a block after the head and makes it the head. @param senders from `SenderRecovery.recover` */
  readonly importBlock: (fileBlock: FileBlock, senders: readonly Address[]) => void;
  /** Called after each block. @param bytesRead bytes of the file read so far, as stored */
  readonly onBlock?: (bytesRead: number) => void;
};

/**
 * Imports the blocks of the chain file at `path` that `chain` lacks. Other threads recover their senders ahead of execution.
 * @throws ForkedImportError, InvalidChainFileError, and errors of `importBlock`; the blocks before stay imported
 */
export async function importChainFile(
  path: string,
  {
    chain,
    log,
    timers,
    ahead,
  }: {
    readonly chain: Chain;
    readonly log: Logger;
    readonly timers: Timers;
    readonly ahead?: ListedExecutions | undefined;
  },
  { mayContinue, importBlock, onBlock }: ImportSteps,
): Promise<{ readonly imported: number; readonly skipped: number }> {
  const threadCount = Math.min(RECOVERY_THREADS_MAX, availableParallelism());
  const recovery = createSenderRecovery(chain.config, { threadCount, log, timers });
  let imported = 0;
  let skipped = 0;
  try {
    const recovering: SenderRecovery<WaitingBlock> = ahead ? executingAhead(recovery, ahead) : recovery;
    const blocks = recoverAhead(readChainFile(path), recovering, {
      ahead: BLOCKS_AHEAD * threadCount,
      isWanted: ({ header }) => chain.blockHash(header.number) === undefined,
    });
    for await (const { senders, ...waiting } of blocks) {
      if (!mayContinue()) break;
      const { header, hash } = waiting;
      const known = chain.blockHash(header.number);
      if (known === undefined) {
        await ahead?.begin(hash);
        importBlock(decodeWaitingBlock(waiting), senders);
        imported++;
      } else if (known === hash) {
        skipped++;
      } else {
        throw new ForkedImportError({ number: header.number, ours: known, theirs: hash });
      }
      onBlock?.(waiting.bytesRead);
      // Lets signals, threads and other calls run between two blocks.
      await setImmediate();
    }
    return { imported, skipped };
  } finally {
    await recovery.close();
  }
}

/** `recovery` that also passes the blocks to `ahead`, in order. */
function executingAhead(recovery: SenderRecovery, ahead: ListedExecutions): SenderRecovery<WaitingBlock> {
  let before: Promise<unknown> = Promise.resolve();
  return {
    async recover(block) {
      const turn = before;
      const recovered = recovery.recover(block);
      const sent = turn.then(async () => {
        const senders = await recovered;
        ahead.send(block, senders);
        return senders;
      });
      before = sent;
      return sent;
    },
    close: () => recovery.close(),
  };
}

/**
 * Writes blocks `first` to `last`, which must exist, to a chain file at `path`, which must not. Stops early once `mayContinue` is false.
 * @returns the number of blocks in the file
 */
export async function exportChainFile(
  path: string,
  chain: ExportedChain,
  { first, last }: { readonly first: number; readonly last: number },
  {
    mayContinue,
    onBlock,
    hasAccessLists = false,
  }: { readonly mayContinue: () => boolean; readonly onBlock?: () => void; readonly hasAccessLists?: boolean },
): Promise<number> {
  let exported = 0;
  async function* blocks() {
    for (let number = first; number <= last && mayContinue(); number++) {
      yield exportFileBlock(chain, number, hasAccessLists);
      exported++;
      onBlock?.();
      await setImmediate();
    }
  }
  await writeChainFile(path, blocks());
  return exported;
}

/** `setAsideBlocks` that can be interrupted: it then returns undefined and leaves no file. */
export async function setAsideSomeBlocks(
  directory: string,
  chain: ExportedChain & Pick<Chain, "blockHash">,
  { first, last }: { readonly first: number; readonly last: number },
  steps: { readonly mayContinue: () => boolean; readonly onBlock?: () => void },
): Promise<string | undefined> {
  const path = join(directory, `${first}-${last}-${chain.blockHash(last)!.slice(2, 10)}.rlp.gz`);
  if (existsSync(path)) return path;
  makeFolder(directory);
  const unfinished = join(directory, "unfinished.rlp.gz");
  rmSync(unfinished, { force: true });
  const exported = await exportChainFile(unfinished, chain, { first, last }, steps);
  if (exported <= last - first) {
    rmSync(unfinished);
    return undefined;
  }
  renameSync(unfinished, path);
  syncDirectory(directory);
  return path;
}

/**
 * Writes blocks `first` to `last`, which exist, to a chain file in `directory`; it is durable when the promise resolves.
 * @returns its path, which contains the last block's hash: the same blocks are written only once
 */
export async function setAsideBlocks(
  directory: string,
  chain: ExportedChain & Pick<Chain, "blockHash">,
  range: { readonly first: number; readonly last: number },
): Promise<string> {
  return (await setAsideSomeBlocks(directory, chain, range, { mayContinue: () => true }))!;
}
