import { blobParamsAt } from "../base/params/blob-schedule.ts";
import type { BlobParams, ChainConfig } from "../base/params/chain-config.ts";
import { forkId } from "../base/params/fork-id.ts";
import { BEACON_ROOTS_ADDRESS, HISTORY_STORAGE_ADDRESS, REQUEST_CONTRACTS } from "../base/params/gas.ts";
import { type Hardfork, hardforkAt, RULES_AT, TIME_FORK_FIELDS } from "../base/params/hardforks.ts";
import { type Address, ZERO_ADDRESS } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";
import type { Hex } from "../base/primitives/hex.ts";
import type { Header } from "../base/types/header.ts";
import { precompilesAt } from "../evm/machine/precompiles/index.ts";

/** The rules from one time fork on (EIP-7910). */
export type ForkConfig = {
  /** Unix seconds; 0 when it holds from genesis on. */
  readonly activationTime: number;
  /** Absent before Cancun. */
  readonly blobSchedule: BlobParams | undefined;
  readonly chainId: bigint;
  readonly forkId: Hex;
  /** By name */
  readonly precompiles: ReadonlyMap<string, Address>;
  readonly systemContracts: ReadonlyMap<string, Address>;
};

/** `next` and `last` are absent when nothing is scheduled. */
export type ForkConfigs = {
  readonly current: ForkConfig | undefined;
  readonly next: ForkConfig | undefined;
  readonly last: ForkConfig | undefined;
};

type Genesis = { readonly hash: Hash; readonly header: Pick<Header, "timestamp"> };

/** The forks of EIP-7910: the head's, the one that begins next, the last one scheduled. */
export function forkConfigs(config: ChainConfig, genesis: Genesis, headTime: number): ForkConfigs {
  const times = TIME_FORK_FIELDS.flatMap((field) => config[field] ?? []).sort((a, b) => a - b);
  const describe = (time: number | undefined) => (time === undefined ? undefined : forkConfigAt(config, genesis, time));
  const next = times.find((time) => time > headTime);
  return {
    current: describe(times.findLast((time) => time <= headTime)),
    next: describe(next),
    last: next === undefined ? undefined : describe(times.at(-1)),
  };
}

function forkConfigAt(
  config: ChainConfig,
  { hash: genesisHash, header: { timestamp: genesisTime } }: Genesis,
  activationTime: number,
): ForkConfig {
  // Time forks come after the merge, whatever the block is.
  const point = { number: Number.MAX_SAFE_INTEGER, timestamp: activationTime, difficulty: 0n };
  const hardfork = hardforkAt(config, point);
  return {
    activationTime: activationTime > genesisTime ? activationTime : 0,
    blobSchedule: blobParamsAt(config, activationTime),
    chainId: config.chainId,
    forkId: forkId(config, genesisHash, genesisTime, point.number, activationTime).hash,
    precompiles: precompilesOf(hardfork),
    systemContracts: systemContractsOf(hardfork, config),
  };
}

/** Precompiles and system contracts of `hardfork`, by which others recognise it. */
export function ruleNames(hardfork: Hardfork): ReadonlySet<string> {
  return new Set([...precompilesOf(hardfork).keys(), ...systemContractsOf(hardfork, {}).keys()]);
}

function precompilesOf(hardfork: Hardfork): ReadonlyMap<string, Address> {
  return byName([...precompilesAt(hardfork)].map(([at, { name }]) => [name, at]));
}

function systemContractsOf(
  hardfork: Hardfork,
  { depositContractAddress = ZERO_ADDRESS }: Pick<ChainConfig, "depositContractAddress">,
): ReadonlyMap<string, Address> {
  const requests = REQUEST_CONTRACTS.filter(({ since }) => RULES_AT[hardfork][since]);
  const contracts: [string, Address][] = requests.map(({ name, address }) => [name, address]);
  if (RULES_AT[hardfork].cancun) contracts.push(["BEACON_ROOTS_ADDRESS", BEACON_ROOTS_ADDRESS]);
  if (RULES_AT[hardfork].prague) {
    // As in geth, a chain without a deposit contract shows the zero address.
    contracts.push(["DEPOSIT_CONTRACT_ADDRESS", depositContractAddress]);
    contracts.push(["HISTORY_STORAGE_ADDRESS", HISTORY_STORAGE_ADDRESS]);
  }
  return byName(contracts);
}

/** The order of JSON objects in geth. */
function byName(addresses: [string, Address][]): ReadonlyMap<string, Address> {
  return new Map(addresses.sort(([a], [b]) => (a < b ? -1 : 1)));
}
