import type { BlobParams, ChainConfig } from "./chain-config.ts";
import { BLOCK_FORK_FIELDS, isTimeForkActive, TIME_FORK_FIELDS } from "./hardforks.ts";

/** Mainnet's blob limits, and geth's for forks that mainnet does not have: EIP-4844, 7691, 7892. BPO5 has no default. */
export const DEFAULT_BLOB_SCHEDULE: Readonly<Record<string, BlobParams>> = {
  cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477n },
  prague: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n },
  osaka: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n },
  bpo1: { target: 10, max: 15, baseFeeUpdateFraction: 8_346_193n },
  bpo2: { target: 14, max: 21, baseFeeUpdateFraction: 11_684_671n },
  bpo3: { target: 21, max: 32, baseFeeUpdateFraction: 20_609_697n },
  bpo4: { target: 14, max: 21, baseFeeUpdateFraction: 13_739_630n },
};

/** Forks that may set blob limits, newest first: the newest active one with an entry counts. */
export const BLOB_FORKS = TIME_FORK_FIELDS.filter((field) => !/^(?:shanghai|amsterdam)/.test(field))
  .map((field) => [field.replace("Time", ""), field] as const)
  .reverse();

/** Blob limits of a block at `timestamp` (EIP-7840); undefined before Cancun. */
export function blobParamsAt(config: ChainConfig, timestamp: number): BlobParams | undefined {
  for (const [name, field] of BLOB_FORKS) {
    const params = config.blobSchedule[name];
    if (params && isTimeForkActive(config, field, timestamp)) return params;
  }
  return undefined;
}

/** All rules up to Osaka from the first block on, proof of stake, Osaka's blob limits: the chain of `--dev`. */
export function allForksAtGenesis(chainId: bigint): ChainConfig {
  const { cancun, prague, osaka } = DEFAULT_BLOB_SCHEDULE;
  const blockForks = BLOCK_FORK_FIELDS.filter((field) => field !== "daoForkBlock");
  return {
    chainId,
    ...Object.fromEntries(blockForks.map((field) => [field, 0])),
    terminalTotalDifficulty: 0n,
    shanghaiTime: 0,
    cancunTime: 0,
    pragueTime: 0,
    osakaTime: 0,
    blobSchedule: { cancun: cancun!, prague: prague!, osaka: osaka! },
  };
}
