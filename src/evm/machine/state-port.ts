import type { Checkpoint } from "../../base/crypto/checkpoint.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";

/**
 * The port: what the EVM and the transaction rules need of the world state while they change it.
 * `evm/state/world-state.ts` fits it. All synchronous.
 */
export interface State {
  account(address: Address): EvmAccount | undefined;
  /** Creates or replaces the account's fields; its storage stays. */
  setAccount(address: Address, account: EvmAccount): void;
  /** Removes the account with all its storage. */
  deleteAccount(address: Address): void;
  storage(address: Address, slot: Hash): bigint;
  setStorage(address: Address, slot: Hash, value: bigint): void;
  /** True when any slot of `address` is not 0 (EIP-7610). */
  hasStorage(address: Address): boolean;
  code(codeHash: Hash): Uint8Array;
  /** Keeps `code` and returns its hash. */
  putCode(code: Uint8Array): Hash;
  /** EIP-161: the account is deleted at the end of the transaction when it is empty then. */
  touch(address: Address): void;
  snapshot(): number;
  /** Undoes everything since `snapshot`, touches included. */
  revertTo(snapshot: number): void;
}

/** What changes of the state outside of any transaction need. */
export type AccountWriter = Pick<State, "account" | "setAccount" | "storage" | "setStorage">;

/** Same shape as evm/state/account.ts `Account`; the EVM does not import state/. */
export type EvmAccount = {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeHash: Hash;
};

/** One precompiled contract. Both functions leave `input` as it is and do not hold on to it. */
export type Precompile = {
  /** As eth_config names it: ECREC, SHA256, … */
  readonly name: string;
  /** Cost of `run(input)`; may exceed 64 bits. The caller checks it before `run`. */
  gas(input: Uint8Array): bigint;
  /**
   * The output, owned by the caller, or a failure, which burns all gas of the call.
   * @param checkpoint called every few milliseconds by precompiles that can take longer; may throw
   */
  run(input: Uint8Array, checkpoint?: Checkpoint): Uint8Array | PrecompileFailure;
};

/** Why a precompile rejected its input; becomes `{ kind: "precompile", reason }`. */
export type PrecompileFailure = { readonly reason: string };
