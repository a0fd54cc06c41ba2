import type { Address } from "../primitives/address.ts";

/** Blob limits of a period: EIP-4844, EIP-7840. Counts are blobs per block. */
export type BlobParams = {
  readonly target: number;
  readonly max: number;
  readonly baseFeeUpdateFraction: bigint;
};

/**
 * When each set of rules begins, as in a geth genesis. A block fork is active at blocks ≥ its number, a time fork at timestamps ≥ its second;
 * absent means never.
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
  /** 0: proof of stake from genesis on. Otherwise a block with difficulty 0 is post-merge. */
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
  readonly amsterdamTime?: number;
  /** By fork name as in genesis files: cancun, prague, osaka, bpo1…bpo5. */
  readonly blobSchedule: Readonly<Record<string, BlobParams>>;
  readonly depositContractAddress?: Address;
  /** The base fee of every block after block 0 is 0, with Besu's semantics. */
  readonly zeroBaseFee?: boolean;
  /** Minimum tip per gas of each transaction of a block, in wei, that all nodes agree on; absent: each proposer has its own. */
  readonly minimumTip?: bigint;
  /** Target of the block gas limit, if the validators agreed on one. */
  readonly gasLimitTarget?: bigint;
  /** Time between two blocks of a network, if the validators agreed on one. */
  readonly blockPeriodMs?: number;
  /** How long evidence of misbehaviour is valid, if the validators agreed on it. */
  readonly evidenceAgeSeconds?: number;
  /** The application votes out validators that provably signed two different blocks. */
  readonly jail?: boolean;
  /** Contract whose storage lists the accounts that may send transactions and create contracts; absent: every account may. */
  readonly accountPermissions?: Address;
  /** Maximum bytes of a contract, instead of EIP-170's; init code may have twice as many. */
  readonly codeSizeMax?: number;
  /** A transaction may use all gas of a block: disables EIP-7825. */
  readonly noTxGasLimit?: boolean;
  /**
   * Callers may change the state by hand: accounts with code may send (against EIP-3607), gas prices may be 0, and the pool has no rules for
   * delegated accounts.
   */
  readonly devRules?: boolean;
  /** Earlier chain ids, each up to block `last`, ascending: a dev chain's caller has changed `chainId` since. */
  readonly earlierChainIds?: readonly EarlierChainId[];
  /** The first agreed fork that this program cannot execute: no block from its time on is valid here. */
  readonly unknownFork?: UnknownFork;
};

export type EarlierChainId = { readonly last: number; readonly chainId: bigint };

export function chainIdAt({ chainId, earlierChainIds }: ChainConfig, number: number): bigint {
  return earlierChainIds?.find(({ last }) => number <= last)?.chainId ?? chainId;
}

export type UnknownFork = {
  /** Its field in genesis files. */
  readonly name: string;
  /** Unix seconds */
  readonly time: number;
};
