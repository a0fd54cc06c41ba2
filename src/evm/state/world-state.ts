import { type Address, addressFromBytes } from "../../base/primitives/address.ts";
import { bigintToFixedBytes } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import type { State } from "../machine/state-port.ts";
import { type Account, EMPTY_ACCOUNT, isEmptyAccount } from "./account.ts";
import {
  type AccountOverlay,
  changeOf,
  createOverlay,
  NO_SLOTS,
  overlayHasStorage,
  type Undo,
  writtenOf,
} from "./account-overlay.ts";
import type { AccountChange, StateChanges, StateReader } from "./reader.ts";
import { StateBefore } from "./state-before.ts";

/**
 * A state being changed on top of one that is not: transactions run on it one after the other.
 * The changes of a transaction can be undone until its `finalizeTransaction`: a snapshot from before is then of no use.
 */
export interface WorldState extends State {
  /**
   * The end of a transaction: deletes `selfDestructs` and, with `deleteEmptyTouched` (EIP-161, from
   * Spurious Dragon), the touched accounts that are empty. The set of touched accounts is empty afterwards.
   * With `keepsBalances` a deleted account with a balance stays, without all the rest (EIP-8246, from Amsterdam).
   */
  finalizeTransaction(options: {
    readonly selfDestructs: readonly Address[];
    readonly deleteEmptyTouched: boolean;
    readonly keepsBalances?: boolean;
  }): void;
  /** @param isChange the slot is among `changes` even if the base has this value: the base is not read for it */
  setStorage(address: Address, slot: Hash, value: bigint, isChange?: boolean): void;
  /** What differs from the base, in the order in which the accounts were first read. */
  changes(): StateChanges;
  /** Accounts that may differ from the base, each with the slots that were written; in the order of `changes`, and cheaper. */
  written(): Iterable<{ readonly address: Address; readonly slots: Iterable<Hash> }>;
  /** The base as far as it was read: other accounts are not there, and other slots have no value. */
  readOfBase(): Pick<StateReader, "account" | "storage">;
  /** The state as it is at each moment, for reading: later changes show through. */
  asReader(): StateReader;
  /**
   * The state before the transaction that begins now: that state while the transaction runs and once it is final, until the next
   * one begins. Calling it again ends what was returned before.
   */
  beforeTransaction(): StateReader;
}

/**
 * The RIPEMD-160 precompile, whose touch outlives a revert. Mainnet deleted it in a transaction that ran out of
 * gas (Yellow Paper, appendix K), and every client has done so since.
 */
const RIPEMD160 = addressFromBytes(bigintToFixedBytes(3n, 20));

type WorldStateOptions = {
  /**
   * false where `changes` only computes a state root and is never stored: the old slots of cleared storage are then left out, so
   * that clearing an account costs the same whatever it stores. true if not given.
   */
  readonly listsClearedSlots?: boolean;
};

/**
 * A world state that begins as `base`, which must not change while this is used.
 *
 * Touched (EIP-161) is an account after `touch`, `setAccount` or `deleteAccount`. The EVM calls `touch` where an
 * account is a call's target, a beneficiary or a coinbase and nothing else about it changes.
 */
export function createWorldState(base: StateReader, options: WorldStateOptions = {}): WorldState {
  return new OverlaidState(base, options);
}

/** A class: V8 compiles its methods once, and the functions of a closure again for every block. */
class OverlaidState implements WorldState {
  readonly #base: StateReader;
  readonly #listsClearedSlots: boolean;
  readonly #overlays = new Map<Address, AccountOverlay>();
  /** The overlay used last: mostly one is read several times in a row. */
  #last: AccountOverlay | undefined;
  readonly #codes = new Map<Hash, Uint8Array>();
  #journal: Undo[] = [];
  readonly #touched = new Set<Address>();
  #reader: StateReader | undefined;
  #before: StateBefore | undefined;
  #reverts = 0;

  constructor(base: StateReader, { listsClearedSlots = true }: WorldStateOptions) {
    this.#base = base;
    this.#listsClearedSlots = listsClearedSlots;
  }

  account(address: Address): Account | undefined {
    const last = this.#last;
    return (last?.address === address ? last : this.#overlayOf(address)).account;
  }

  setAccount(address: Address, account: Account): void {
    const of = this.#overlayOf(address);
    this.#journal.push({ kind: "account", of, account: of.account });
    of.account = account;
    this.touch(address);
  }

  deleteAccount(address: Address): void {
    this.#delete(address);
    this.touch(address);
  }

  storage(address: Address, slot: Hash): bigint {
    const last = this.#last;
    const overlay = last?.address === address ? last : this.#overlayOf(address);
    const written = overlay.written.get(slot);
    if (written !== undefined) return written;
    if (overlay.cleared) return 0n;
    let value = overlay.loaded.get(slot);
    if (value === undefined) {
      value = this.#base.storage(address, slot);
      if (overlay.loaded === NO_SLOTS) overlay.loaded = new Map();
      (overlay.loaded as Map<Hash, bigint>).set(slot, value);
    }
    return value;
  }

  setStorage(address: Address, slot: Hash, value: bigint, isChange = false): void {
    const of = this.#overlayOf(address);
    this.#journal.push({ kind: "slot", of, slot, value: of.written.get(slot) });
    writtenOf(of).set(slot, value);
    if (!isChange) return;
    of.replaced ??= new Set();
    of.replaced.add(slot);
  }

  hasStorage(address: Address): boolean {
    return overlayHasStorage(this.#overlayOf(address), this.#base);
  }

  code(codeHash: Hash): Uint8Array {
    return this.#codes.get(codeHash) ?? this.#base.code(codeHash);
  }

  putCode(bytes: Uint8Array): Hash {
    const codeHash = keccak256Hash(bytes);
    if (codeHash !== EMPTY_CODE_HASH && !this.#codes.has(codeHash)) {
      this.#codes.set(codeHash, bytes);
      this.#journal.push({ kind: "code", codeHash });
    }
    return codeHash;
  }

  touch(address: Address): void {
    if (this.#touched.has(address)) return;
    this.#touched.add(address);
    this.#journal.push({ kind: "touch", address });
  }

  snapshot(): number {
    return this.#journal.length;
  }

  revertTo(snapshot: number): void {
    const journal = this.#journal;
    this.#reverts++;
    while (journal.length > snapshot) this.#undo(journal.pop()!);
  }

  finalizeTransaction({
    selfDestructs,
    deleteEmptyTouched,
    keepsBalances = false,
  }: Parameters<WorldState["finalizeTransaction"]>[0]): void {
    for (const address of selfDestructs) {
      const { balance } = this.account(address) ?? EMPTY_ACCOUNT;
      this.#delete(address);
      if (keepsBalances && balance > 0n) this.setAccount(address, { ...EMPTY_ACCOUNT, balance });
    }
    if (deleteEmptyTouched) {
      for (const address of this.#touched) {
        const { account } = this.#overlayOf(address);
        if (account !== undefined && isEmptyAccount(account)) this.#delete(address);
      }
    }
    this.#touched.clear();
    if (this.#before === undefined) {
      this.#journal.length = 0;
      return;
    }
    this.#before.complete();
    this.#before = undefined;
    this.#journal = [];
  }

  changes(): StateChanges {
    const accounts: AccountChange[] = [];
    const deployed = new Map<Hash, Uint8Array>();
    for (const overlay of this.#overlays.values()) {
      const change = changeOf(overlay, this.#base, this.#listsClearedSlots);
      if (change === undefined) continue;
      accounts.push(change);
      const bytes = change.account && this.#codes.get(change.account.codeHash);
      if (bytes) deployed.set(change.account.codeHash, bytes);
    }
    return { accounts, codes: deployed };
  }

  *written(): Generator<{ readonly address: Address; readonly slots: Iterable<Hash> }> {
    for (const { address, account, before, written } of this.#overlays.values()) {
      if (account !== before || written.size > 0) yield { address, slots: written.keys() };
    }
  }

  readOfBase(): Pick<StateReader, "account" | "storage"> {
    return {
      account: (address) => this.#overlays.get(address)?.before,
      storage: (address, slot) => this.#overlays.get(address)?.loaded.get(slot) ?? 0n,
    };
  }

  asReader(): StateReader {
    this.#reader ??= {
      account: (address) => this.account(address),
      storage: (address, slot) => this.storage(address, slot),
      code: (codeHash) => this.code(codeHash),
      storageEntries: (address) => this.#storageEntries(address),
    };
    return this.#reader;
  }

  beforeTransaction(): StateReader {
    this.#before = new StateBefore({
      base: this.#base,
      journal: this.#journal,
      reverts: () => this.#reverts,
      overlayOf: (address) => this.#overlayOf(address),
      code: (codeHash) => this.code(codeHash),
    });
    return this.#before;
  }

  *#storageEntries(address: Address): Iterable<readonly [slot: Hash, value: bigint]> {
    const overlay = this.#overlayOf(address);
    for (const entry of overlay.written) if (entry[1] !== 0n) yield entry;
    if (overlay.cleared) return;
    for (const entry of this.#base.storageEntries(address)) {
      if (!overlay.written.has(entry[0])) yield entry;
    }
  }

  #overlayOf(address: Address): AccountOverlay {
    let overlay = this.#overlays.get(address);
    if (overlay === undefined) {
      overlay = createOverlay(address, this.#base.account(address));
      this.#overlays.set(address, overlay);
    }
    this.#last = overlay;
    return overlay;
  }

  #delete(address: Address): void {
    const of = this.#overlayOf(address);
    if (of.account === undefined && of.written.size === 0 && of.cleared) return;
    const { account, written, cleared } = of;
    this.#journal.push({ kind: "deletion", of, account, written, cleared });
    of.account = undefined;
    of.written = NO_SLOTS;
    of.cleared = true;
  }

  #undo(step: Undo): void {
    switch (step.kind) {
      case "account":
        step.of.account = step.account;
        break;
      case "slot":
        if (step.value === undefined) writtenOf(step.of).delete(step.slot);
        else writtenOf(step.of).set(step.slot, step.value);
        break;
      case "deletion":
        step.of.account = step.account;
        step.of.written = step.written;
        step.of.cleared = step.cleared;
        break;
      case "touch":
        if (step.address !== RIPEMD160) this.#touched.delete(step.address);
        break;
      case "code":
        this.#codes.delete(step.codeHash);
    }
  }
}
