import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { type Account, sameAccount } from "./account.ts";
import type { AccountChange, StateReader } from "./reader.ts";

/** One account of a world state: as it was in the base, and what has been laid over that. */
export type AccountOverlay = {
  readonly address: Address;
  /** in the base */
  readonly before: Account | undefined;
  account: Account | undefined;
  /** Slots of the base read so far; apart from `written` so that undoing a write needs no new read. */
  loaded: ReadonlyMap<Hash, bigint>;
  written: ReadonlyMap<Hash, bigint>;
  /** Slots of `written` that are changes whatever the base has. */
  replaced: Set<Hash> | undefined;
  /** The account was deleted: the base's storage no longer shows through. */
  cleared: boolean;
};

/** Most accounts of a block have no storage: two maps less for each of them. */
export const NO_SLOTS: ReadonlyMap<Hash, bigint> = new Map();

export function createOverlay(address: Address, before: Account | undefined): AccountOverlay {
  return {
    address,
    before,
    account: before,
    loaded: NO_SLOTS,
    written: NO_SLOTS,
    replaced: undefined,
    cleared: false,
  };
}

/** `overlay.loaded`, for writing. */
export function loadedOf(overlay: AccountOverlay): Map<Hash, bigint> {
  if (overlay.loaded === NO_SLOTS) overlay.loaded = new Map();
  return overlay.loaded as Map<Hash, bigint>;
}

/** `overlay.written`, for writing. */
export function writtenOf(overlay: AccountOverlay): Map<Hash, bigint> {
  if (overlay.written === NO_SLOTS) overlay.written = new Map();
  return overlay.written as Map<Hash, bigint>;
}

/** True when any slot is not 0. Slots of an account that does not exist are no part of the state. */
export function overlayHasStorage(overlay: AccountOverlay, base: StateReader): boolean {
  for (const value of overlay.written.values()) if (value !== 0n) return true;
  if (overlay.cleared || overlay.before === undefined) return false;
  for (const [slot] of base.storageEntries(overlay.address)) {
    if (!overlay.written.has(slot)) return true;
  }
  return false;
}

/**
 * How the account differs from the base; undefined when it does not. Slots of an account that does not exist are no part of the state.
 * @param listsClearedSlots false: the old slots of cleared storage are not read, so they are missing in the change
 */
export function changeOf(
  overlay: AccountOverlay,
  base: StateReader,
  listsClearedSlots: boolean,
): AccountChange | undefined {
  const { address, account, before, written, cleared } = overlay;
  if (account === undefined) {
    if (before === undefined) return undefined;
    const storage = new Map<Hash, bigint>();
    if (listsClearedSlots) {
      for (const [slot] of base.storageEntries(address)) storage.set(slot, 0n);
    }
    return { address, account: null, storage, storageCleared: true };
  }
  const fieldsDiffer = account !== before && !sameAccount(account, before);
  if (cleared) {
    if (!listsClearedSlots) {
      const storage = new Map([...written].filter(([, value]) => value !== 0n));
      return { address, account, storage, storageCleared: true };
    }
    const { storage, differs } = storageAfterClearing(overlay, base);
    if (!fieldsDiffer && !differs) return undefined;
    return { address, account, storage, storageCleared: true };
  }
  if (written.size === 0) {
    return fieldsDiffer ? { address, account, storage: NO_SLOTS, storageCleared: false } : undefined;
  }
  const storage = new Map<Hash, bigint>();
  for (const [slot, value] of written) {
    if (overlay.replaced?.has(slot) || value !== (overlay.loaded.get(slot) ?? base.storage(address, slot))) {
      storage.set(slot, value);
    }
  }
  if (!fieldsDiffer && storage.size === 0) return undefined;
  return { address, account, storage, storageCleared: false };
}

/** Old slots at 0 with everything the account has now laid over them, and whether that is a difference at all. */
function storageAfterClearing(
  { address, written }: AccountOverlay,
  base: StateReader,
): { readonly storage: ReadonlyMap<Hash, bigint>; readonly differs: boolean } {
  const storage = new Map<Hash, bigint>();
  const old = new Map(base.storageEntries(address));
  let differs = false;
  for (const slot of old.keys()) storage.set(slot, 0n);
  for (const [slot, value] of written) {
    if (value !== 0n || old.has(slot)) storage.set(slot, value);
  }
  for (const [slot, value] of storage) differs ||= value !== (old.get(slot) ?? 0n);
  return { storage, differs };
}

/** One step back. What it restores is in it, so `revertTo` costs as much as what was changed. */
export type Undo =
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
      readonly written: ReadonlyMap<Hash, bigint>;
      readonly cleared: boolean;
    }
  | { readonly kind: "touch"; readonly address: Address }
  | { readonly kind: "code"; readonly codeHash: Hash };
