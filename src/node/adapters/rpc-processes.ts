import { join } from "node:path";
import type { ChainParts } from "../../adapters/parts.ts";
import type { Config } from "../../config/config.ts";
import { dataPath } from "../../config/home.ts";
import type { ServingPort } from "../../les/port.ts";
import type { RpcPorts } from "../../rpc/methods/rpc-ports.ts";
import type { Registry } from "../../rpc/transport/dispatch/method.ts";
import type { TlsMaterial } from "../../rpc/transport/server/listener.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { RpcProcesses } from "../workers/rpc/rpc-processes.ts";

/** The processes that serve connections, as many as the configuration says; undefined where there are none. */
export function startRpcProcesses(
  config: Config,
  secrets: { readonly jwtSecret: Uint8Array; readonly tls: TlsMaterial | undefined },
  modules: {
    readonly core: Pick<ChainParts, "chain" | "store">;
    readonly registry: Registry<RpcPorts>;
    readonly ports: RpcPorts;
    readonly serving: ServingPort | undefined;
    readonly log: Logger;
    readonly metrics: Metrics;
    readonly onBadToken: (source: string) => void;
  },
): RpcProcesses | undefined {
  const { log } = modules;
  const { chain, store } = modules.core;
  const { processes: count, enable } = config.jsonRpc;
  if (count === 0 || !enable) return undefined;
  if (store.followable === undefined) {
    log.info(
      "connections stay in the chain's process: the index is in memory, where no other can read it",
    );
    return undefined;
  }
  const { directory } = store.followable;
  const head = join(dataPath(config.home), "head");
  let processes: RpcProcesses | undefined;
  store.publishToFile(head, (error) => {
    log.error("the head could not be published to RPC processes: connections move to the chain's", {
      error,
    });
    void processes?.close();
  });
  processes = new RpcProcesses(
    {
      count,
      data: {
        ...{ config, ...secrets },
        store: { directory, head },
        chainConfig: chain.config,
        genesisHash: chain.genesisHash,
      },
      callQueueMax: config.limits.server.callQueueMax,
    },
    { ...modules, epoch: () => store.epoch },
  );
  return processes;
}
