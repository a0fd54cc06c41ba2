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
  readonly amsterdamTime?: number;
  /** By fork name as in genesis files: cancun, prague, osaka, bpo1…bpo5. */
  readonly blobSchedule: Readonly<Record<string, BlobParams>>;
  readonly depositContractAddress?: Address;
  /** The base fee of every block after block 0 is 0, as Besu reads it. */
  readonly zeroBaseFee?: boolean;
  /** Least tip per gas of each transaction of a block, in wei, that all nodes agree on; absent: each proposer has its own. */
  readonly minimumTip?: bigint;
  /** What the gas limit of each block moves towards, where the validators agreed on it. */
  readonly gasLimitTarget?: bigint;
  /** Time between two blocks of a network, where the validators agreed on it. */
  readonly blockPeriodMs?: number;
  /** How long evidence of misbehaviour counts, where the validators agreed on it. */
  readonly evidenceAgeSeconds?: number;
  /** Validators that are proven to have signed two different blocks are voted out by the application. */
  readonly jail?: boolean;
  /** Contract whose storage has the accounts that may send transactions and create contracts; absent: every account may. */
  readonly accountPermissions?: Address;
  /** Most bytes of a contract, in place of EIP-170's; twice as many may create it. */
  readonly codeSizeMax?: number;
  /** A transaction may have as much gas as a block: without EIP-7825's limit. */
  readonly noTxGasLimit?: boolean;
  /** Callers may change the state by hand: accounts with code may send (against EIP-3607), prices may be 0, and the pool has no rules for delegated accounts. */
  readonly devRules?: boolean;
  /** Chain ids that the chain had before `chainId`, each up to block `last`, ascending: a dev chain's caller has set another one since. */
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
