import { type Peer, startAnvil, startEvmint, startGeth } from "../support/peers.ts";
import { BLOCK_GAS_LIMIT } from "./workload.ts";

/** `evmint 1` serves connections in a process beside the chain's; `evmint compiled` compiles hot contracts. */
export type PeerName = "evmint" | "evmint 1" | "evmint compiled" | "anvil" | "geth";

export type StartOptions = {
  readonly genesisFile: string;
  /** 0: a block as soon as there is a transaction. */
  readonly blockTimeSeconds: number;
};

/** A node on the genesis, with a pool that holds every transaction of a load; undefined where it is not installed. */
export function startPeer(name: PeerName, options: StartOptions): Promise<Peer | undefined> {
  const { genesisFile, blockTimeSeconds } = options;
  const blockTime = blockTimeSeconds > 0 ? { blockTimeSeconds } : {};
  switch (name) {
    case "evmint":
    case "evmint 1":
    case "evmint compiled":
      return startEvmint({
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
          name === "evmint 1" ? "1" : "0",
          "--evm.compile",
          name === "evmint compiled" ? "auto" : "off",
        ],
        ...(process.env["NODE_ARGS"] && { runtimeArguments: process.env["NODE_ARGS"].split(" ") }),
      });
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
