import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import { ForkHashes } from "../../base/params/fork-id.ts";
import { parseGenesis } from "../../base/params/genesis.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { agreedConfig } from "../../chain/agreement/agreed-config.ts";
import { forkConfigs } from "../../chain/fork-config.ts";
import { genesisBlock } from "../../chain/genesis-block.ts";
import { assertEngineGenesis, assertEngineRules } from "../../consensus/cometbft/home/home.ts";
import { decodeProposerData } from "../../consensus/consensus-data.ts";
import type { Config } from "../../node/config/config.ts";
import { readGenesisText } from "../../node/config/genesis/genesis-file.ts";
import { cometbftPath, devGenesisPath, genesisPath } from "../../node/config/home.ts";
import { type Finding, findingsOf } from "./finding.ts";
import type { ScheduleView } from "./node-view.ts";

/** The chain of a home as its genesis file has it. */
export type OwnChain = {
  readonly config: ChainConfig;
  readonly genesisHash: Hash;
  readonly genesisTime: number;
};

/** undefined where the home has no genesis. @throws InvalidGenesisError, or of the file system */
export function readOwnChain({ home, dev }: Pick<Config, "home" | "dev">): OwnChain | undefined {
  const file = dev ? devGenesisPath(home) : genesisPath(home);
  if (!existsSync(file)) return undefined;
  const genesis = parseGenesis(readGenesisText(file));
  const { block } = genesisBlock(genesis);
  return { config: genesis.config, genesisHash: block.hash, genesisTime: block.header.timestamp };
}

/** Whether the two geneses of a home are of one chain. */
export function engineGenesisFinding({ home }: Pick<Config, "home">, own: OwnChain): Finding[] {
  const directory = cometbftPath(home);
  // The first start of a chain that was a solo one writes it.
  if (!existsSync(join(directory, "config", "genesis.json"))) return [];
  const { ok, fault } = findingsOf("genesis");
  const { config, genesisHash } = own;
  try {
    assertEngineGenesis(directory, { chainId: config.chainId, genesisHash });
    assertEngineRules(directory, config);
  } catch (error) {
    return [fault((error as Error).message)];
  }
  return [ok(`block 0 is ${genesisHash}, in CometBFT's genesis too`)];
}

/** The rules of the file, with the validators' agreements applied. */
export function rulesOf({ config }: OwnChain, agreed: ReadonlyMap<string, bigint> = new Map()): ChainConfig {
  return agreedConfig(
    config,
    [...agreed].map(([name, value]) => ({ name, value })),
  );
}

/** The schedule of `rules`, as `eth_config` of a node with them shows it at `headTime`. */
export function scheduleOfRules(
  { genesisHash, genesisTime }: OwnChain,
  rules: ChainConfig,
  headTime: number,
): ScheduleView | null {
  const genesis = { hash: genesisHash, header: { timestamp: genesisTime } };
  const { current, next, last } = forkConfigs(rules, genesis, headTime);
  const newest = last ?? next ?? current;
  return newest === undefined ? null : { forkId: newest.forkId, lastTime: newest.activationTime };
}

/** A decided block, whose first transaction is proposer data. */
type DecidedBlock = {
  readonly height: number;
  readonly time: { readonly seconds: bigint };
  readonly txs: readonly Uint8Array[];
};

/** Whether a decided block names the forks by which this home would execute it. @throws InvalidProposerDataError */
export function namedForksFinding(own: OwnChain, rules: ChainConfig, { height, time, txs }: DecidedBlock): Finding {
  const { ok, fault } = findingsOf("forks");
  const { forkHash } = decodeProposerData(txs[0]);
  // Its proposer knows of no fork by time after block 0.
  if (forkHash === undefined) return ok(`block ${height} names no fork`);
  const { genesisHash, genesisTime } = own;
  const ours = bytesToHex(new ForkHashes({ config: rules, genesisHash, genesisTime }).at(Number(time.seconds)));
  const theirs = bytesToHex(forkHash);
  if (ours === theirs) return ok(`block ${height} names the forks of config/genesis.json (${ours})`);
  const advice = "compare its fork times with another node's and correct them";
  return fault(`block ${height} names the forks ${theirs}, config/genesis.json has ${ours}: ${advice}`);
}
