import { parseGenesis } from "../../base/params/genesis.ts";
import { type Address, parseAddress } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { genesisBlock } from "../../chain/genesis-block.ts";
import { engineChainId } from "../../consensus/chain-start.ts";
import { GENESIS_FILE_BYTES_MAX } from "../../node/config/genesis/genesis-file.ts";
import { nodeAddresses } from "../../node/config/value-types.ts";
import { readTextFile } from "../../store/storage/read-file.ts";
import { CommandError, UsageError } from "../errors.ts";

/** What a node needs to join a network: the two geneses byte by byte, the settings that have to agree, and nodes to connect to. */
export type NetworkFile = {
  /** Decimal. */
  readonly chainId: string;
  /** Hash of block 0: a program that makes another block 0 of the genesis does not join. */
  readonly genesisHash: Hash;
  /** `consensus.block-time` */
  readonly blockTimeMs: number;
  /** `cometbft.local-net` */
  readonly localNet: boolean;
  /** `cometbft.allowed-nodes-contract` */
  readonly allowedNodesContract: Address | null;
  /** `id@host:port` */
  readonly peers: readonly string[];
  /** Text of the geth genesis file. */
  readonly genesis: string;
  /** Text of CometBFT's genesis file. */
  readonly engineGenesis: string;
};

/** The file of a network, of the settings of one of its nodes. */
export function renderNetworkFile(network: Omit<NetworkFile, "chainId" | "genesisHash">): string {
  const { genesis, engineGenesis, ...settings } = network;
  const file: NetworkFile = { ...identityOf(genesis), ...settings, genesis, engineGenesis };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** @throws UsageError if the file cannot be read, CommandError if it is incomplete or contradicts itself */
export function readNetworkFile(path: string): NetworkFile {
  let text: string;
  try {
    text = readTextFile(path, { bytesMax: 2 * GENESIS_FILE_BYTES_MAX });
  } catch (cause) {
    throw new UsageError(`--join: cannot read ${path}: ${(cause as Error).message}`, { path }, { cause });
  }
  const network = decode(text);
  if (typeof network === "string") {
    throw new CommandError(`${path} was not written by this version of "evmintd engine invite": ${network}`);
  }
  assertConsistent(path, network);
  return network;
}

/** The fault of a file that is not an invitation. */
function decode(text: string): NetworkFile | string {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  const { chainId, genesisHash, blockTimeMs, localNet, allowedNodesContract, peers, genesis, engineGenesis } =
    (file as Partial<NetworkFile> | null) ?? {};
  if (typeof genesis !== "string" || typeof engineGenesis !== "string") return "it has no genesis";
  if (typeof chainId !== "string" || typeof genesisHash !== "string") return "it has no chain id or genesis hash";
  if (!Number.isSafeInteger(blockTimeMs) || blockTimeMs! <= 0) return "it has no blockTimeMs";
  if (typeof localNet !== "boolean") return "it has no localNet";
  const contract = addressOrNull(allowedNodesContract);
  if (contract === undefined) return "it has no allowedNodesContract";
  const addresses = Array.isArray(peers) ? nodeAddresses.parse(peers) : undefined;
  if (addresses === undefined) return "its peers are not id@host:port";
  return {
    chainId,
    genesisHash,
    blockTimeMs: blockTimeMs!,
    localNet,
    allowedNodesContract: contract,
    peers: addresses,
    genesis,
    engineGenesis,
  };
}

function addressOrNull(value: unknown): Address | null | undefined {
  if (value === null) return null;
  try {
    return typeof value === "string" ? parseAddress(value) : undefined;
  } catch {
    return undefined;
  }
}

/** @throws CommandError */
function assertConsistent(path: string, network: NetworkFile): void {
  const { chainId, genesisHash } = identityOf(network.genesis);
  if (chainId !== network.chainId || genesisHash !== network.genesisHash) {
    throw new CommandError(
      `${path}: its genesis yields block 0 ${genesisHash} of chain ${chainId}, but the file says ${network.genesisHash} of chain ${network.chainId}: it was edited, or another version of evmintd wrote it`,
    );
  }
  const engine = engineIdentityOf(network.engineGenesis);
  if (engine.chainId !== engineChainId(BigInt(chainId)) || engine.genesisHash !== genesisHash) {
    throw new CommandError(`${path}: its two geneses belong to different chains`);
  }
}

function identityOf(genesis: string): Pick<NetworkFile, "chainId" | "genesisHash"> {
  const parsed = parseGenesis(genesis);
  return { chainId: String(parsed.config.chainId), genesisHash: genesisBlock(parsed).block.hash };
}

function engineIdentityOf(text: string): { readonly chainId?: unknown; readonly genesisHash?: unknown } {
  try {
    const { chain_id: chainId, app_state: appState } = JSON.parse(text);
    return { chainId, genesisHash: appState?.evmGenesis };
  } catch {
    return {};
  }
}
