import type { Config } from "../config/config.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { ChainCore } from "./compose-chain.ts";
import type { Listener } from "./types.ts";

/** Opens every listener the configuration asks for. */
export async function startListeners(
  _config: Config,
  _log: Logger,
  _core: ChainCore,
): Promise<{ readonly listeners: readonly Listener[]; close(): Promise<void> }> {
  return { listeners: [], async close() {} };
}
