import { readFileSync } from "node:fs";
import { CommandError, UsageError } from "./errors.ts";

/** What a node needs to join a network: the two geneses byte by byte, and nodes to connect to. */
export type NetworkFile = {
  /** Text of the geth genesis file. */
  readonly genesis: string;
  /** Text of CometBFT's genesis file. */
  readonly engineGenesis: string;
  /** `consensus.block-time`; equal on all nodes. */
  readonly blockTimeMs: number;
  /** `id@host:port` */
  readonly peers: readonly string[];
};

export function renderNetworkFile(network: NetworkFile): string {
  return `${JSON.stringify(network, null, 2)}\n`;
}

/** @throws UsageError, CommandError */
export function readNetworkFile(path: string): NetworkFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new UsageError(`--join: cannot read ${path}`, { path }, { cause });
  }
  const network = parse(text);
  const { genesis, engineGenesis, blockTimeMs, peers } = network ?? {};
  const isWhole =
    typeof genesis === "string" &&
    typeof engineGenesis === "string" &&
    Number.isSafeInteger(blockTimeMs) &&
    Array.isArray(peers) &&
    peers.every((peer) => typeof peer === "string");
  if (!isWhole) throw new CommandError(`${path} is not a file of "evmintd engine invite"`);
  return network as NetworkFile;
}

function parse(text: string): Partial<NetworkFile> | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
