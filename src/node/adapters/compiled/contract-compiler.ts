import { join } from "node:path";
import type { Config } from "../../../config/config.ts";
import { cachePath, isInMemory } from "../../../config/home.ts";
import type { Logger } from "../../../telemetry/logger.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { ThreadedCompiler } from "./threaded-compiler.ts";

/** Compiled contracts; the least recently used are dropped. */
export const COMPILED_CONTRACT_LIMITS = {
  /** Memory in a process: 1,000 contracts of 2.5 KB, or 100 of the largest. */
  cacheBytesMax: 200 * 2 ** 20,
  /** Files in the home's cache folder: some 1,000 contracts of 10 KB. */
  fileBytesMax: 256 * 2 ** 20,
} as const;

/** The compiler of a process; undefined where contracts are only interpreted. */
export function createContractCompiler(
  config: Config,
  log: Logger,
  metrics: Metrics,
): ThreadedCompiler | undefined {
  if (config.evm.compile === "off") return undefined;
  const { cacheBytesMax, fileBytesMax } = COMPILED_CONTRACT_LIMITS;
  const directory = join(cachePath(config.home), "contracts");
  return new ThreadedCompiler(
    {
      cacheBytesMax,
      files: isInMemory(config) ? undefined : { directory, bytesMax: fileBytesMax },
    },
    { log, metrics },
  );
}
