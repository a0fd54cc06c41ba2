import { resolve } from "node:path";
import { createDevPort } from "../../adapters/dev-port.ts";
import type { Config } from "../../config/config.ts";
import { InvalidConfigError } from "../../config/errors.ts";
import { dumpInSteps, FILE_DUMP_BYTES_MAX, unpackDump } from "../../dev/state-dump.ts";
import { readRegularFile } from "../../storage/read-file.ts";
import { replaceFile } from "../../storage/replace-file.ts";
import type { Failures } from "../../telemetry/failures.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Timers } from "../../telemetry/timers.ts";
import { allAtOnce } from "../../threads/in-slices.ts";
import { SharedSlices } from "../../threads/shared-slices.ts";
import type { ChainRole } from "../chain/chain-role.ts";

/** The files of anvil's format that a dev chain begins with and leaves. */
export type DevStateFiles = {
  /** Writes the file of `--dump-state` a last time. */
  close(): Promise<void>;
};

/**
 * Loads `--load-state` into a chain that is new, and writes `--dump-state` every `--state-interval` and when the node stops.
 * @param role the chain, which a reset replaces
 * @throws InvalidConfigError for a file that cannot be read, or holds no state
 */
export async function openDevStateFiles(
  { dev: isDev, devChain: { loadState, dumpState, stateIntervalMs } }: Config,
  role: () => ChainRole,
  { log, failures, timers }: { readonly log: Logger; readonly failures: Failures; readonly timers: Timers },
): Promise<DevStateFiles> {
  if (!isDev || (loadState ?? dumpState) === null) return { async close() {} };
  if (loadState !== null && role().opened.resumed) {
    log.info("state is not loaded: the chain exists", { file: loadState });
  } else if (loadState !== null) {
    const edits = await unpackDump(read(loadState), new SharedSlices(timers), FILE_DUMP_BYTES_MAX).catch((cause) => {
      throw invalidState(`${loadState}: ${(cause as Error).message}`, cause);
    });
    await devPortOf(role(), timers).edit({ edits });
    log.info("state loaded", { file: loadState, accounts: edits.length });
  }
  async function dump(): Promise<void> {
    // It is that of the last stop until the index was checked, which the file has.
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
  return new InvalidConfigError(`${key}: ${what}`, { key }, { cause });
}
