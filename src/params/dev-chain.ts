import { DEFAULT_BLOB_SCHEDULE } from "./blob-schedule.ts";
import type { ChainConfig } from "./chain-config.ts";

/** Every rule up to Osaka from the first block on, proof of stake, Osaka's blob limits: the chain of `--dev`. */
export function allForksAtGenesis(chainId: bigint): ChainConfig {
  const { cancun, prague, osaka } = DEFAULT_BLOB_SCHEDULE;
  return {
    chainId,
    homesteadBlock: 0,
    eip150Block: 0,
    eip155Block: 0,
    eip158Block: 0,
    byzantiumBlock: 0,
    constantinopleBlock: 0,
    petersburgBlock: 0,
    istanbulBlock: 0,
    muirGlacierBlock: 0,
    berlinBlock: 0,
    londonBlock: 0,
    arrowGlacierBlock: 0,
    grayGlacierBlock: 0,
    mergeNetsplitBlock: 0,
    terminalTotalDifficulty: 0n,
    shanghaiTime: 0,
    cancunTime: 0,
    pragueTime: 0,
    osakaTime: 0,
    blobSchedule: { cancun: cancun!, prague: prague!, osaka: osaka! },
  };
}
