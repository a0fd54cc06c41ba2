import type { Hash } from "../../base/primitives/hash.ts";
import type { Chain } from "../../chain/chain.ts";
import type { DevChain } from "../../dev/dev-chain.ts";
import { remoteName } from "../../dev/fork/fetch-remote-calls.ts";
import type { NodeAdmin } from "../../rpc/ports/admin.ts";
import type { ChainView } from "../../rpc/ports/chain-view.ts";
import type { ForkInfo } from "../../rpc/ports/dev-info.ts";
import type { MinerSettings } from "../../rpc/ports/miner.ts";
import type { NodePort, Readiness } from "../../rpc/ports/node.ts";
import type { DappDb } from "../../store/storage/dapp-db.ts";
import type { Config } from "../config/config.ts";
import { clientVersion } from "../config/package.ts";
import type { InstanceId } from "../config/secrets.ts";
import type { ProductionParts } from "./parts.ts";
import { createValidatorVoting } from "./validator-voting.ts";

/** Blocks from which the network's pace is estimated. */
const PACE_BLOCKS = 100;
/** geth's newest devp2p `eth` version, which tools compare with; this node does not speak devp2p. */
const ETH_PROTOCOL_VERSION = 69;

/** The block that a chain continues, and the node that serves the other chain. */
export type ForkedBlock = {
  readonly base: { readonly block: { readonly hash: Hash; readonly header: { readonly number: number } } };
  readonly urls: readonly string[];
};

export function forkInfoOf({ base: { block }, urls }: ForkedBlock): ForkInfo {
  return {
    number: block.header.number,
    hash: block.hash,
    url: urls[0] === undefined ? undefined : remoteName(urls[0]),
  };
}

export type NodePortModules = {
  readonly chain: Chain;
  readonly production: Pick<ProductionParts, "feeRecipient" | "engine" | "voting">;
  readonly devChain: DevChain | undefined;
  /** The forked block that the chain continues. */
  readonly fork: ForkedBlock | undefined;
  readonly view: ChainView;
  readonly admin: NodeAdmin;
  readonly miner: MinerSettings;
  readonly dappDb: DappDb;
  readonly instance: InstanceId;
  readonly isListening: () => boolean;
  readonly readiness: () => Readiness;
};

/** Hardhat's network helpers require a node name that begins with `hardhat` or `anvil`. A dev chain has the methods of both. */
function devClientVersion(): string {
  return `anvil/${clientVersion()}`;
}

export function createNodePort(
  { dev, consensus, devChain: devSettings }: Pick<Config, "dev" | "consensus" | "devChain">,
  modules: NodePortModules,
): NodePort {
  const { chain, production, devChain, fork, view, dappDb, instance } = modules;
  const { feeRecipient, engine, voting } = production;
  const { admin, miner, isListening, readiness } = modules;
  const version = dev ? (devSettings.clientVersion ?? devClientVersion()) : clientVersion();
  const startingBlock = chain.head().block.header.number;
  return {
    info: () => {
      const network = engine.network?.status();
      return {
        clientVersion: version,
        networkId: chain.config.chainId,
        protocolVersion: ETH_PROTOCOL_VERSION,
        peerCount: network?.peerCount ?? 0,
        isListening: network?.isListening ?? isListening(),
        coinbase: devChain?.settings.coinbase ?? feeRecipient.value,
        // The solo engine is the only validator and never has to catch up.
        isValidator: network?.isValidator ?? devChain?.makesBlocks ?? true,
        syncProgress: network?.isCatchingUp ? syncProgressOf(chain, startingBlock) : undefined,
      };
    },
    readiness,
    devChain: () => ({
      instanceId: instance.value(),
      isAutomine: devChain?.isAutomine ?? consensus.blockTime === "instant",
      order: devSettings.order,
      fork: fork && forkInfoOf(fork),
    }),
    ...admin,
    ...miner,
    ...createValidatorVoting(voting, chain, view, engine.network),
    getValue: ({ database, key }) => dappDb.get(database, key),
    putValue: ({ database, key, value }) => dappDb.put(database, key, value),
  };
}

/** CometBFT does not report its peers' heights. They are estimated from the age of the head and the pace of the last blocks. */
function syncProgressOf({ head, header }: Pick<Chain, "head" | "header">, startingBlock: number) {
  const { number, timestamp } = head().block.header;
  const first = Math.max(0, number - PACE_BLOCKS);
  const seconds = timestamp - (header(first)?.timestamp ?? timestamp);
  const secondsPerBlock = number > first && seconds > 0 ? seconds / (number - first) : 1;
  const ageSeconds = Math.max(0, Date.now() / 1000 - timestamp);
  return {
    startingBlock,
    currentBlock: number,
    highestBlock: number + Math.max(1, Math.floor(ageSeconds / secondsPerBlock)),
  };
}
