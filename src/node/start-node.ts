import type { Config } from "../config/config.ts";
import type { Logger } from "../telemetry/logger.ts";
import { type ChainCore, composeChain } from "./compose-chain.ts";
import type { OpenChainOptions } from "./open-chain.ts";
import { startListeners } from "./start-listeners.ts";
import type { RunningNode } from "./types.ts";

/** A running node with its inside, for programs that hold one in process. */
export type NodeInProcess = RunningNode & { readonly core: ChainCore };

/**
 * Starts a node: chain first, then its listeners. When a listener cannot open, the chain is closed again.
 * @param hooks for tests that end the process at a named step
 */
export async function startNode(
  config: Config,
  log: Logger,
  hooks: Pick<OpenChainOptions, "failPoint"> = {},
): Promise<NodeInProcess> {
  let onFatal: (error: unknown) => void = () => {};
  const failure = new Promise<unknown>((resolve) => {
    onFatal = resolve;
  });
  const core = composeChain(config, log, { ...hooks, onFatal });
  try {
    const { listeners, close } = await startListeners(config, log, core);
    const { header } = core.chain.head().block;
    core.start();
    let stopping: Promise<void> | undefined;
    async function stop(): Promise<void> {
      await close();
      core.stop();
      core.store.close();
    }
    return {
      core,
      listeners,
      chain: {
        chainId: core.chain.config.chainId,
        head: header.number,
        headTimestamp: header.timestamp,
        resumed: core.resumed,
      },
      failure,
      stop() {
        stopping ??= stop();
        return stopping;
      },
    };
  } catch (error) {
    core.store.close();
    throw error;
  }
}
