import { NodeError } from "../../../base/errors.ts";
import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { hardforkAt } from "../../../base/params/hardforks.ts";
import { type Address, checksumAddress } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Withdrawal } from "../../../base/types/block.ts";
import type { BlockContext } from "../../machine/evm.ts";
import type { Precompile } from "../../machine/state-port.ts";
import { EMPTY_ACCOUNT } from "../../state/account.ts";
import type { WorldState } from "../../state/world-state.ts";

/** Replaces parts of the block environment of a call, geth's `BlockOverrides`. */
export type BlockOverrides = {
  /** Of any size: opcodes see the low 256 bits of the number and all of the time, forks what a chain can have of them. */
  readonly number?: bigint;
  readonly time?: bigint;
  readonly gasLimit?: bigint;
  readonly feeRecipient?: Address;
  readonly prevRandao?: Hash;
  readonly baseFeePerGas?: bigint;
  readonly blobBaseFee?: bigint;
  /** Counts only in eth_simulateV1, before the merge: after it, none has an effect. */
  readonly difficulty?: bigint;
  /** Only eth_simulateV1 knows these two. */
  readonly beaconRoot?: Hash;
  readonly withdrawals?: readonly Withdrawal[];
};

/** An override that this method does not know. The message is geth's. */
export class InvalidBlockOverridesError extends NodeError {
  readonly code = "CALL_INVALID_BLOCK_OVERRIDES";
}

/**
 * `block` with what the caller pretends; the fork follows number and time. BLOCKHASH keeps to the real chain before `block`.
 *
 * @param showsBlock BLOCKHASH also gives the hash of `block` where the overridden number is the next one: by a zero there, a
 *   contract could tell that it is simulated (go-ethereum #32175)
 */
export function overrideBlock(
  block: BlockContext,
  overrides: BlockOverrides,
  config: ChainConfig,
  showsBlock = false,
): BlockContext {
  const number = overrides.number === undefined ? block.number : safeNumber(overrides.number);
  const timestamp = overrides.time === undefined ? block.timestamp : safeNumber(overrides.time);
  const hashesBefore = showsBlock && number === block.number + 1 ? number : block.number;
  return {
    ...(overrides.number !== undefined && { numberWord: overrides.number }),
    ...(overrides.time !== undefined && { timestampWord: overrides.time }),
    hardfork: hardforkAt(config, { number, timestamp, difficulty: block.difficulty }),
    chainId: block.chainId,
    number,
    timestamp,
    coinbase: overrides.feeRecipient ?? block.coinbase,
    gasLimit: overrides.gasLimit ?? block.gasLimit,
    difficulty: block.difficulty,
    prevRandao: overrides.prevRandao ?? block.prevRandao,
    baseFeePerGas: overrides.baseFeePerGas ?? block.baseFeePerGas,
    blobBaseFee: overrides.blobBaseFee ?? block.blobBaseFee,
    blockHash: (wanted) => (wanted < hashesBefore ? block.blockHash(wanted) : undefined),
  };
}

/** `value`, or 2^53 − 1 where it is greater: no chain has a block or a fork beyond. */
function safeNumber(value: bigint): number {
  return value > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(value);
}

/** @throws InvalidBlockOverridesError for what only eth_simulateV1 takes. */
export function assertCallOverrides(overrides: BlockOverrides): void {
  for (const name of ["beaconRoot", "withdrawals"] as const) {
    if (overrides[name] !== undefined) {
      throw new InvalidBlockOverridesError(`block override "${name}" is not supported for this RPC method`, { name });
    }
  }
}

/** Replaces parts of one account for the length of a call, geth's `OverrideAccount`. */
export type AccountOverride = {
  readonly nonce?: bigint;
  readonly code?: Uint8Array;
  readonly balance?: bigint;
  /** Replaces the whole storage. */
  readonly state?: ReadonlyMap<Hash, bigint>;
  /** Sets single slots. */
  readonly stateDiff?: ReadonlyMap<Hash, bigint>;
  /** The precompile at this address moves there. */
  readonly movePrecompileToAddress?: Address;
};
export type StateOverrides = ReadonlyMap<Address, AccountOverride>;

/** Overrides that contradict each other. The message is geth's. */
class InvalidStateOverridesError extends NodeError {
  readonly code = "CALL_INVALID_STATE_OVERRIDES";
}

/**
 * Lays `overrides` over `state`, as if a transaction before had made them, and over the precompiles: any entry for a
 * precompile's address takes it away there.
 * @returns the precompiles from now on; the same map when none is concerned
 * @throws InvalidStateOverridesError
 */
export function applyStateOverrides(
  overrides: StateOverrides,
  state: WorldState,
  precompiles: ReadonlyMap<Address, Precompile>,
): ReadonlyMap<Address, Precompile> {
  const remaining = new Map(precompiles);
  const destinations = new Set<Address>();
  const sorted = [...overrides].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [address, override] of sorted) {
    if (destinations.has(address)) {
      refuse(`account ${checksumAddress(address)} has already been overridden by a precompile`);
    }
    const precompile = remaining.get(address);
    const destination = override.movePrecompileToAddress;
    if (destination !== undefined) {
      if (!precompile) refuse(`account ${checksumAddress(address)} is not a precompile`);
      if (overrides.has(destination)) {
        refuse(`account ${checksumAddress(destination)} is already overridden`);
      }
      remaining.set(destination, precompile);
      destinations.add(destination);
    }
    if (precompile) remaining.delete(address);
    applyAccountOverride(address, override, state);
  }
  state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: false });
  const isUntouched = sorted.every(([address]) => !precompiles.has(address));
  return isUntouched ? precompiles : remaining;
}

function applyAccountOverride(
  address: Address,
  { nonce, code, balance, state: slots, stateDiff }: AccountOverride,
  state: WorldState,
): void {
  if (nonce !== undefined || code !== undefined || balance !== undefined) {
    const account = state.account(address) ?? EMPTY_ACCOUNT;
    state.setAccount(address, {
      nonce: nonce ?? account.nonce,
      balance: balance ?? account.balance,
      codeHash: code ? state.putCode(code) : account.codeHash,
    });
  }
  if (slots && stateDiff) {
    refuse(`account ${checksumAddress(address)} has both 'state' and 'stateDiff'`);
  }
  if (!slots && !stateDiff) return;
  const account = state.account(address) ?? EMPTY_ACCOUNT;
  if (slots) state.deleteAccount(address);
  state.setAccount(address, account);
  for (const [slot, value] of slots ?? stateDiff ?? []) state.setStorage(address, slot, value);
}

function refuse(message: string): never {
  throw new InvalidStateOverridesError(message);
}
