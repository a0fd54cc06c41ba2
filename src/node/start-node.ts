import type { Config } from "../config/config.ts";
import type { Logger } from "../telemetry/logger.ts";
import { composeChain } from "./compose-chain.ts";
import { startListeners } from "./start-listeners.ts";
import type { RunningNode } from "./types.ts";

/** Starts a node: chain first, then its listeners; when a listener cannot open, the chain is closed again. */
export async function startNode(config: Config, log: Logger): Promise<RunningNode> {
  let onFatal: (error: unknown) => void = () => {};
  const failure = new Promise<unknown>((resolve) => {
    onFatal = resolve;
  });
  const core = composeChain(config, log, { onFatal });
  try {
    const server = await startListeners(config, log, core);
    const { header } = core.chain.head().block;
    core.start();
    let stopping: Promise<void> | undefined;
    return {
      listeners: server.listeners,
      chain: {
        chainId: core.chain.config.chainId,
        head: header.number,
        headTimestamp: header.timestamp,
        resumed: core.resumed,
      },
      failure,
      stop() {
        stopping ??= (async () => {
          await server.close();
          core.stop();
          core.store.close();
        })();
        return stopping;
      },
    };
  } catch (error) {
    core.store.close();
    throw error;
  }
}
