import { existsSync } from "node:fs";
import { escapeControls } from "../../base/telemetry/escape-controls.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Config } from "../../node/config/config.ts";
import type { NodeOperations, WorkOptions } from "../../node/roles/types.ts";
import { type CliContext, openLog } from "../context.ts";
import { CommandError, InterruptedError, UsageError } from "../errors.ts";
import { createProgress } from "../progress.ts";

/** Appends the blocks of an RLP file. */
export async function importFile(config: Config, file: string, context: CliContext): Promise<void> {
  if (!existsSync(file)) throw new UsageError(`no file ${file}`);
  const result = await work("import", config, context, (operations, log, options) =>
    operations.importChain(config, log, { ...options, file }),
  );
  printJson(result, context);
}

/** Writes blocks `first` to `last` to an RLP file. */
export async function exportFile(
  config: Config,
  file: string,
  { range, hasAccessLists }: { readonly range: readonly (string | undefined)[]; readonly hasAccessLists: boolean },
  context: CliContext,
): Promise<void> {
  const [first, last] = range.map((text) => (text === undefined ? undefined : parseNumber(text)));
  if (first !== undefined && last !== undefined && first > last) {
    throw new UsageError(`block ${first} comes after block ${last}`);
  }
  // A half-written export that replaced a whole one would be a loss.
  if (existsSync(file)) throw new UsageError(`${file} already exists`);
  const result = await work("export", config, context, (operations, log, options) =>
    operations.exportChain(config, log, { ...options, file, first, last, hasAccessLists }),
  );
  printJson(result, context);
}

/** Writes the state after a block as `geth dump` does. */
export async function exportStateFile(
  config: Config,
  file: string,
  blockText: string | undefined,
  context: CliContext,
): Promise<void> {
  const block = blockText === undefined ? undefined : parseNumber(blockText);
  if (existsSync(file)) throw new UsageError(`${file} already exists`);
  const result = await work("export-state", config, context, (operations, log) =>
    operations.exportState(config, log, { file, block }),
  );
  printJson(result, context);
}

/**
 * Reads the whole store and reports its faults. @throws CommandError if there are any
 * @param fromText the first block to execute again; none if not given
 */
export async function checkDatabase(config: Config, fromText: string | undefined, context: CliContext): Promise<void> {
  const from = fromText === undefined ? undefined : parseNumber(fromText);
  const { head, faults } = await work("check", config, context, (operations, log, options) =>
    operations.checkStore(config, log, { ...options, from }),
  );
  printJson({ head, faults }, context);
  if (faults.length > 0) throw new CommandError(`${faults.length} faults found`);
}

/**
 * Removes the newest blocks, which are set aside.
 * @param count "1" if neither is given
 * @param flags.to the block that is the head then
 */
export async function rollback(
  config: Config,
  count: string | undefined,
  flags: { readonly to?: string | undefined; readonly fromPeers: boolean },
  context: CliContext,
): Promise<void> {
  const { to, fromPeers } = flags;
  if (to !== undefined && count !== undefined) throw new UsageError("give either a number of blocks or --to HEIGHT");
  if (fromPeers && config.consensus.engine !== "cometbft") {
    throw new UsageError("--from-peers needs a chain under CometBFT (consensus.engine)");
  }
  const back = to === undefined ? { blocks: parseNumber(count ?? "1") } : { to: parseNumber(to) };
  if (back.blocks === 0) throw new UsageError("nothing to roll back");
  const result = await work("rollback", config, context, (operations, log, options) =>
    operations.rollback(config, log, { ...options, back, fromPeers }),
  );
  printJson(result, context);
}

/** Removes old blocks and states, or says what would be removed. */
export async function prune(
  config: Config,
  { isDryRun }: { readonly isDryRun: boolean },
  context: CliContext,
): Promise<void> {
  const result = await work("prune", config, context, (operations, log, options) =>
    operations.prune(config, log, { ...options, isDryRun }),
  );
  printJson(result, context);
}

/** Gives the free pages of the index back to the disk. */
export async function compact(config: Config, context: CliContext): Promise<void> {
  const result = await work("compact", config, context, (operations, log, options) =>
    operations.compact(config, log, options),
  );
  printJson(result, context);
}

/** Builds the index anew. */
export async function reindex(config: Config, context: CliContext): Promise<void> {
  const result = await work("reindex", config, context, (operations, log, options) =>
    operations.reindex(config, log, options),
  );
  printJson(result, context);
}

/** Runs `task` with progress; the first signal asks it to stop at the next block, the second does not ask. */
async function work<T>(
  label: string,
  config: Config,
  context: CliContext,
  task: (operations: NodeOperations, log: Logger, options: WorkOptions) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const dispose = context.onSignal((signal) => {
    if (abort.signal.aborted) context.exitNow(signal === "SIGINT" ? 130 : 143);
    abort.abort();
  });
  const progress = createProgress(label, context);
  try {
    const operations = await context.loadOperations();
    const result = await task(operations, openLog(config, context), {
      onProgress: progress.show,
      signal: abort.signal,
    });
    progress.end();
    if (abort.signal.aborted) {
      throw new InterruptedError(`${label} stopped; completed: ${JSON.stringify(result)}`);
    }
    return result;
  } catch (error) {
    progress.end();
    throw error;
  } finally {
    dispose();
  }
}

function parseNumber(text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new UsageError(`${text} is not a number of blocks`);
  return value;
}

function printJson(result: unknown, { stdout }: CliContext): void {
  stdout.write(`${escapeControls(JSON.stringify(result))}\n`);
}
