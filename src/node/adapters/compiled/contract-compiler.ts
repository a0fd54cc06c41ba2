import { join } from "node:path";
import type { Config } from "../../../config/config.ts";
import { cachePath, isInMemory } from "../../../config/home.ts";
import type { Logger } from "../../../telemetry/logger.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { ThreadedCompiler } from "./threaded-compiler.ts";

/** The compiler of a process; undefined where contracts are only interpreted. */
export function createContractCompiler(
  config: Config,
  log: Logger,
  metrics: Metrics,
): ThreadedCompiler | undefined {
  const { compile, compileCacheBytesMax, compileFilesBytesMax } = config.evm;
  if (compile === "off") return undefined;
  const directory = join(cachePath(config.home), "contracts");
  return new ThreadedCompiler(
    {
      cacheBytesMax: compileCacheBytesMax,
      files: isInMemory(config) ? undefined : { directory, bytesMax: compileFilesBytesMax },
    },
    { log, metrics },
  );
}
