import type { Address } from "../primitives/address.ts";

/** Blob limits of one stretch of time: EIP-4844, EIP-7840. Counts are blobs a block. */
export type BlobParams = {
  readonly target: number;
  readonly max: number;
  readonly baseFeeUpdateFraction: bigint;
};

/**
 * When each set of rules begins, as in a geth genesis. A block fork is active at blocks ≥ its number,
 * a time fork at timestamps ≥ its second; absent means never.
 */
export type ChainConfig = {
  readonly chainId: bigint;
  readonly homesteadBlock?: number;
  readonly daoForkBlock?: number;
  readonly daoForkSupport?: boolean;
  readonly eip150Block?: number;
  readonly eip155Block?: number;
  readonly eip158Block?: number;
  readonly byzantiumBlock?: number;
  readonly constantinopleBlock?: number;
  readonly petersburgBlock?: number;
  readonly istanbulBlock?: number;
  readonly muirGlacierBlock?: number;
  readonly berlinBlock?: number;
  readonly londonBlock?: number;
  readonly arrowGlacierBlock?: number;
  readonly grayGlacierBlock?: number;
  readonly mergeNetsplitBlock?: number;
  /** 0: proof of stake from genesis on. Else a block is past the merge when its difficulty is 0. */
  readonly terminalTotalDifficulty?: bigint;
  readonly shanghaiTime?: number;
  readonly cancunTime?: number;
  readonly pragueTime?: number;
  readonly osakaTime?: number;
  readonly bpo1Time?: number;
  readonly bpo2Time?: number;
  readonly bpo3Time?: number;
  readonly bpo4Time?: number;
  readonly bpo5Time?: number;
  /** By fork name as in genesis files: cancun, prague, osaka, bpo1…bpo5. */
  readonly blobSchedule: Readonly<Record<string, BlobParams>>;
  readonly depositContractAddress?: Address;
};
