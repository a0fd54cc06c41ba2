import { NodeError } from "../base/errors.ts";
import type { EarlierChainId } from "../base/params/chain-config.ts";
import type { Address } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";

/** A dev-chain control call failed; nothing has changed. */
export class DevControlError extends NodeError {
  readonly code = "DEV_CONTROL";
}

/** What a caller of a dev chain has set for blocks, time and accounts. Each member left out is as the node was started. */
export type DevSettings = {
  /** A transaction is mined as soon as it arrives. */
  readonly automine?: boolean | undefined;
  /** Between two blocks made by the clock; 0: none are. */
  readonly intervalMs?: number | undefined;
  /** What the chain's clock is ahead of the system's. */
  readonly clockOffsetSeconds?: number | undefined;
  /** The clock was moved since the newest block was made. */
  readonly isClockMoved?: boolean | undefined;
  /** Seconds between the timestamps of two blocks, whatever the clock says. */
  readonly timestampInterval?: number | undefined;
  readonly gasLimit?: bigint | undefined;
  readonly coinbase?: Address | undefined;
  /** Least gas price in wei that the pool accepts. */
  readonly minimumGasPrice?: bigint | undefined;
  /** Accounts that send without a key. */
  readonly impersonated?: readonly Address[] | undefined;
  /** Every account sends without a key. */
  readonly autoImpersonate?: boolean | undefined;
  /** False: transactions are not logged. */
  readonly logging?: boolean | undefined;
  /** Replaces the chain's own. */
  readonly chainId?: bigint | undefined;
  readonly earlierChainIds?: readonly EarlierChainId[] | undefined;
  readonly nextBlock?: NextBlock | undefined;
};

/** Settings of the node rather than of its chain: a revert leaves them as they are, as in anvil and Hardhat. */
const NODE_SETTINGS = [
  "automine",
  "intervalMs",
  "minimumGasPrice",
  "impersonated",
  "autoImpersonate",
  "logging",
  "chainId",
  "earlierChainIds",
] as const satisfies readonly (keyof DevSettings)[];

/** The settings after a revert to a snapshot that was made with `stored`. */
export function revertedSettings(current: DevSettings, stored: DevSettings): DevSettings {
  const reverted: { -readonly [Name in keyof DevSettings]: unknown } = { ...stored };
  for (const name of NODE_SETTINGS) {
    delete reverted[name];
    if (current[name] !== undefined) reverted[name] = current[name];
  }
  return reverted as DevSettings;
}

/** Set for a single block. */
export type NextBlock = {
  /** Number of the block: for any other one this is over. */
  readonly number: number;
  /** Unix seconds */
  readonly timestamp?: number;
  readonly baseFeePerGas?: bigint;
  readonly prevRandao?: Hash;
  readonly slotNumber?: bigint;
};

const BIGINT = /^(\d+)n$/;

/** JSON, with integers above 2^53 as decimal digits and `n`. */
export function encodeSettings(value: unknown): string {
  return JSON.stringify(value, (_key, member) => (typeof member === "bigint" ? `${member}n` : member));
}

export function decodeSettings(text: string): unknown {
  return JSON.parse(text, (_key, member) => {
    const digits = typeof member === "string" ? BIGINT.exec(member)?.[1] : undefined;
    return digits === undefined ? member : BigInt(digits);
  });
}
