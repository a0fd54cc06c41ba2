import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Failures } from "../../../base/telemetry/failures.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { allAtOnce } from "../../../base/threads/in-slices.ts";
import { SharedSlices } from "../../../base/threads/shared-slices.ts";
import { LOG_FOLDER } from "../../../chain/store/replace-log.ts";
import { dumpInSteps, FILE_DUMP_BYTES_MAX, type LoadedState, unpackDump } from "../../../dev/state-dump.ts";
import { readRegularFile } from "../../../store/storage/read-file.ts";
import { replaceFile } from "../../../store/storage/replace-file.ts";
import { createDevPort } from "../../adapters/dev-port.ts";
import type { Config } from "../../config/config.ts";
import { type InvalidConfigError, invalidSetting } from "../../config/errors.ts";
import { dataPath, isInMemory, pendingStatePath } from "../../config/home.ts";
import type { ChainRole } from "../chain/chain-role.ts";
import { beginLoading } from "../chain/loaded-state.ts";
import { removeChain } from "./reset-home.ts";

/** The files in anvil's format that a dev chain loads and dumps. */
export type DevStateFiles = {
  /** Writes the file of `--dump-state` for the last time. */
  close(): Promise<void>;
};

/**
 * The dump that the chain begins with: that of an unfinished load, or of `--load-state` if there is no chain yet. From then on a crash does not
 * lose it.
 * @throws InvalidConfigError for a file that cannot be read, or has no state
 */
export async function readDevState(config: Config, timers: Timers, log: Logger): Promise<LoadedState | undefined> {
  const { dev: isDev, home, devChain } = config;
  if (!isDev) return undefined;
  const hasFiles = !isInMemory(config);
  const isBegun = hasFiles && existsSync(pendingStatePath(home));
  const { loadState } = devChain;
  if (!isBegun && loadState === null) return undefined;
  const file = isBegun ? pendingStatePath(home) : loadState!;
  if (!isBegun && hasFiles && existsSync(join(dataPath(home), LOG_FOLDER))) {
    log.info("not loading the state: the chain already exists", { file });
    return undefined;
  }
  const bytes = read(file);
  const state = await unpackDump(bytes, new SharedSlices(timers), FILE_DUMP_BYTES_MAX).catch((cause) => {
    throw invalidState(`${file}: ${(cause as Error).message}`, cause);
  });
  if (isBegun) removeChain(home);
  else if (hasFiles && state.blocks.length > 0) beginLoading(home, bytes);
  log.info("state loaded", { file, accounts: state.edits.length, blocks: state.blocks.length });
  return state;
}

/**
 * Adds the accounts of a state without blocks to the new chain, and writes `--dump-state` every `--state-interval` and when the node stops.
 * @param role the current chain, which a reset replaces
 */
export async function openDevStateFiles(
  { dev: isDev, devChain: { dumpState, stateIntervalMs } }: Config,
  role: () => ChainRole,
  state: LoadedState | undefined,
  { log, failures, timers }: { readonly log: Logger; readonly failures: Failures; readonly timers: Timers },
): Promise<DevStateFiles> {
  if (!isDev || (state === undefined && dumpState === null)) return { async close() {} };
  if (state !== undefined && !role().opened.isLoaded) await devPortOf(role(), timers).edit({ edits: state.edits });
  async function dump(): Promise<void> {
    // Until the index was checked, the state is that of the last stop, which the file has.
    if (dumpState === null || role().store.isUnchecked) return;
    const state = await devPortOf(role(), timers).dumpState();
    replaceFile(resolve(dumpState), allAtOnce(dumpInSteps(state)), 0o600);
    log.debug("state dumped", { file: dumpState });
  }
  const timer = stateIntervalMs === null ? undefined : timers.every(stateIntervalMs, "state dump", dump);
  return {
    async close() {
      timer?.cancel();
      try {
        await dump();
      } catch (error) {
        failures.report("state dump", error);
      }
    },
  };
}

function devPortOf(role: ChainRole, timers: Timers) {
  const { devChain, pool, opened } = role;
  return createDevPort({ core: role, mempool: pool.mempool, devChain, patches: opened.patches, timers });
}

/** @throws InvalidConfigError */
function read(file: string): Uint8Array {
  try {
    return readRegularFile(file, { bytesMax: FILE_DUMP_BYTES_MAX });
  } catch (cause) {
    throw invalidState((cause as Error).message, cause);
  }
}

function invalidState(what: string, cause: unknown): InvalidConfigError {
  const key = "load-state";
  return invalidSetting(key, what, { cause });
}
