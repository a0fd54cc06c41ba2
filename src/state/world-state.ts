import type { State } from "../evm/state.ts";
import { type Address, addressFromBytes } from "../primitives/address.ts";
import { bigintToFixedBytes } from "../primitives/bytes.ts";
import type { Hash } from "../primitives/hash.ts";
import { keccak256Hash } from "../primitives/keccak.ts";
import { type Account, EMPTY_CODE_HASH, isEmptyAccount } from "./account.ts";
import { type AccountOverlay, changeOf, overlayHasStorage } from "./account-overlay.ts";
import type { AccountChange, StateChanges, StateReader } from "./reader.ts";

/**
 * A state being changed on top of one that is not: transactions run on it one after the other.
 * Every change can be undone, also across `finalizeTransaction`, so a block builder can take a transaction back.
 */
export interface WorldState extends State {
  /**
   * The end of a transaction: deletes `selfDestructs` and, with `deleteEmptyTouched` (EIP-161, from
   * Spurious Dragon), the touched accounts that are empty. The set of touched accounts is empty afterwards.
   */
  finalizeTransaction(options: {
    readonly selfDestructs: readonly Address[];
    readonly deleteEmptyTouched: boolean;
  }): void;
  /** What differs from the base, in the order in which the accounts were first read. */
  changes(): StateChanges;
  /** The state as it is at each moment, for reading: later changes show through. */
  asReader(): StateReader;
}

/** One step back. What it restores is in it, so `revertTo` costs as much as what was changed. */
type Undo =
  | { readonly kind: "account"; readonly of: AccountOverlay; readonly account: Account | undefined }
  | {
      readonly kind: "slot";
      readonly of: AccountOverlay;
      readonly slot: Hash;
      readonly value: bigint | undefined;
    }
  | {
      readonly kind: "deletion";
      readonly of: AccountOverlay;
      readonly account: Account | undefined;
      readonly written: Map<Hash, bigint>;
      readonly cleared: boolean;
    }
  | { readonly kind: "touch"; readonly address: Address }
  | { readonly kind: "finalize"; readonly touched: Set<Address> }
  | { readonly kind: "code"; readonly codeHash: Hash };

/**
 * The RIPEMD-160 precompile, whose touch outlives a revert. Mainnet deleted it in a transaction that ran out of
 * gas (Yellow Paper, appendix K), and every client has done so since.
 */
const RIPEMD160 = addressFromBytes(bigintToFixedBytes(3n, 20));

/**
 * A world state that begins as `base`, which must not change while this is used.
 *
 * Touched (EIP-161) is an account after `touch`, `setAccount` or `deleteAccount`. The EVM calls `touch` where an
 * account is a call's target, a beneficiary or a coinbase and nothing else about it changes.
 *
 * @param options.listsClearedSlots false where `changes` only computes a state root and is never stored: the old slots of
 * cleared storage are then left out, so that clearing an account costs the same whatever it stores
 */
export function createWorldState(
  base: StateReader,
  { listsClearedSlots = true }: { readonly listsClearedSlots?: boolean } = {},
): WorldState {
  const overlays = new Map<Address, AccountOverlay>();
  const codes = new Map<Hash, Uint8Array>();
  const journal: Undo[] = [];
  let touched = new Set<Address>();

  const overlayOf = (address: Address): AccountOverlay => {
    let overlay = overlays.get(address);
    if (overlay === undefined) {
      const account = base.account(address);
      overlay = {
        address,
        account,
        before: account,
        loaded: new Map(),
        written: new Map(),
        cleared: false,
      };
      overlays.set(address, overlay);
    }
    return overlay;
  };

  const touch = (address: Address): void => {
    if (touched.has(address)) return;
    touched.add(address);
    journal.push({ kind: "touch", address });
  };

  const deleteAccount = (address: Address): void => {
    const of = overlayOf(address);
    if (of.account === undefined && of.written.size === 0 && of.cleared) return;
    journal.push({
      kind: "deletion",
      of,
      account: of.account,
      written: of.written,
      cleared: of.cleared,
    });
    of.account = undefined;
    of.written = new Map();
    of.cleared = true;
  };

  const storage = (address: Address, slot: Hash): bigint => {
    const overlay = overlayOf(address);
    const written = overlay.written.get(slot);
    if (written !== undefined) return written;
    if (overlay.cleared) return 0n;
    let value = overlay.loaded.get(slot);
    if (value === undefined) {
      value = base.storage(address, slot);
      overlay.loaded.set(slot, value);
    }
    return value;
  };

  const code = (codeHash: Hash): Uint8Array => codes.get(codeHash) ?? base.code(codeHash);

  const undo = (step: Undo): void => {
    switch (step.kind) {
      case "account":
        step.of.account = step.account;
        break;
      case "slot":
        if (step.value === undefined) step.of.written.delete(step.slot);
        else step.of.written.set(step.slot, step.value);
        break;
      case "deletion":
        step.of.account = step.account;
        step.of.written = step.written;
        step.of.cleared = step.cleared;
        break;
      case "touch":
        if (step.address !== RIPEMD160) touched.delete(step.address);
        break;
      case "finalize":
        touched = step.touched;
        break;
      case "code":
        codes.delete(step.codeHash);
    }
  };

  const reader: StateReader = {
    account: (address) => overlayOf(address).account,
    storage,
    code,
    *storageEntries(address) {
      const overlay = overlayOf(address);
      for (const entry of overlay.written) if (entry[1] !== 0n) yield entry;
      if (overlay.cleared) return;
      for (const entry of base.storageEntries(address)) {
        if (!overlay.written.has(entry[0])) yield entry;
      }
    },
  };

  return {
    account: (address) => overlayOf(address).account,
    setAccount(address, account) {
      const of = overlayOf(address);
      journal.push({ kind: "account", of, account: of.account });
      of.account = account;
      touch(address);
    },
    deleteAccount(address) {
      deleteAccount(address);
      touch(address);
    },
    storage,
    setStorage(address, slot, value) {
      const of = overlayOf(address);
      journal.push({ kind: "slot", of, slot, value: of.written.get(slot) });
      of.written.set(slot, value);
    },
    hasStorage: (address) => overlayHasStorage(overlayOf(address), base),
    code,
    putCode(bytes) {
      const codeHash = keccak256Hash(bytes);
      if (codeHash !== EMPTY_CODE_HASH && !codes.has(codeHash)) {
        codes.set(codeHash, bytes);
        journal.push({ kind: "code", codeHash });
      }
      return codeHash;
    },
    touch,
    snapshot: () => journal.length,
    revertTo(snapshot) {
      while (journal.length > snapshot) undo(journal.pop()!);
    },
    finalizeTransaction({ selfDestructs, deleteEmptyTouched }) {
      for (const address of selfDestructs) deleteAccount(address);
      if (deleteEmptyTouched) {
        for (const address of touched) {
          const { account } = overlayOf(address);
          if (account !== undefined && isEmptyAccount(account)) deleteAccount(address);
        }
      }
      journal.push({ kind: "finalize", touched });
      touched = new Set();
    },
    changes() {
      const accounts: AccountChange[] = [];
      const deployed = new Map<Hash, Uint8Array>();
      for (const overlay of overlays.values()) {
        const change = changeOf(overlay, base, listsClearedSlots);
        if (change === undefined) continue;
        accounts.push(change);
        const bytes = change.account && codes.get(change.account.codeHash);
        if (bytes) deployed.set(change.account.codeHash, bytes);
      }
      return { accounts, codes: deployed };
    },
    asReader: () => reader,
  };
}
