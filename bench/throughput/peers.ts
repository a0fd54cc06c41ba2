import { setTimeout } from "node:timers/promises";
import { freePort } from "../../test/support/free-port.ts";
import { type Peer, startAnvil, startEvmint, startGeth } from "../support/peers.ts";
import { BLOCK_GAS_LIMIT } from "./workload.ts";

/** `evmint 1` serves connections in a process beside the chain's, `evmint rpc` in two; `evmint compiled` compiles hot contracts. */
export type PeerName = "evmint" | "evmint 1" | "evmint rpc" | "evmint compiled" | "anvil" | "geth";

const RPC_PROCESSES: Partial<Record<PeerName, number>> = { "evmint 1": 1, "evmint rpc": 2 };

export type StartOptions = {
  readonly genesisFile: string;
  /** 0: a block as soon as there is a transaction. */
  readonly blockTimeSeconds: number;
};

/** A node on the genesis, with a pool that holds every transaction of a load; undefined where it is not installed. */
export async function startPeer(name: PeerName, options: StartOptions): Promise<Peer | undefined> {
  const { genesisFile, blockTimeSeconds } = options;
  const blockTime = blockTimeSeconds > 0 ? { blockTimeSeconds } : {};
  switch (name) {
    case "evmint":
    case "evmint 1":
    case "evmint rpc":
    case "evmint compiled": {
      const processes = RPC_PROCESSES[name] ?? 0;
      const metricsPort = await freePort();
      const node = await startEvmint({
        ...blockTime,
        genesisFile,
        extraArguments: [
          "--consensus.gas-limit",
          `${BLOCK_GAS_LIMIT}`,
          "--json-rpc.api",
          "eth,txpool",
          "--mempool.account-slots",
          "100000",
          "--mempool.size-limit",
          "1GiB",
          "--json-rpc.processes",
          `${processes}`,
          ...(processes > 0 ? ["--metrics.enable", "true", "--metrics.address", `127.0.0.1:${metricsPort}`] : []),
          "--evm.compile",
          name === "evmint compiled" ? "auto" : "off",
        ],
        ...(process.env["NODE_ARGS"] && { runtimeArguments: process.env["NODE_ARGS"].split(" ") }),
      });
      if (processes > 0) await untilServing(metricsPort, processes);
      return node;
    }
    case "anvil":
      return startAnvil({
        ...blockTime,
        extraArguments: ["--init", genesisFile, "--gas-limit", `${BLOCK_GAS_LIMIT}`],
      });
    case "geth":
      return startGeth({
        ...blockTime,
        genesisFile,
        extraArguments: [
          "--miner.gaslimit",
          `${BLOCK_GAS_LIMIT}`,
          "--http.api",
          "eth,txpool",
          "--txpool.accountslots",
          "100000",
          "--txpool.globalslots",
          "400000",
          "--txpool.accountqueue",
          "100000",
          "--txpool.globalqueue",
          "400000",
        ],
      });
  }
}

const POLL_MS = 20;
const READY_MS_MAX = 30_000;

/** Connections that come earlier stay in the chain's process until they end. */
async function untilServing(metricsPort: number, processes: number): Promise<void> {
  const end = performance.now() + READY_MS_MAX;
  while (performance.now() < end) {
    const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    if ((await response.text()).includes(`evmint_rpc_processes_ready ${processes}`)) return;
    await setTimeout(POLL_MS);
  }
  throw new Error("RPC processes did not start");
}
