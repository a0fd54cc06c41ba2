import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Account } from "./account.ts";
import { type AccountOverlay, loadedOf, type Undo } from "./account-overlay.ts";
import type { StateReader } from "./reader.ts";

export type StateBeforeModules = Pick<StateReader, "code"> & {
  readonly base: StateReader;
  /** Of the running transaction; one entry for each change. */
  readonly journal: readonly Undo[];
  /** How often entries were removed from the end of the journal. */
  readonly reverts: () => number;
  readonly overlayOf: (address: Address) => AccountOverlay;
};

type Deletion = Extract<Undo, { kind: "deletion" }>;

/** What the first entry of the journal for each value restores. */
type Restored = {
  readonly accounts: Map<AccountOverlay, Account | undefined>;
  readonly slots: Map<AccountOverlay, Map<Hash, bigint | undefined>>;
  readonly deletions: Map<AccountOverlay, Deletion>;
};

/**
 * The state before a transaction: what the first entry of the journal for each value restores, and what is there now for the rest. Made for every
 * transaction of a traced block, and read by few tracers: nothing is done before the first read.
 */
export class StateBefore implements StateReader {
  readonly #modules: StateBeforeModules;
  #restored: Restored | undefined;
  /** Entries of the journal. */
  readonly #start: number;
  #end: number;
  #revertsSeen: number;
  #revertsAtEnd: number | undefined;

  constructor(modules: StateBeforeModules) {
    this.#modules = modules;
    this.#start = modules.journal.length;
    this.#end = this.#start;
    this.#revertsSeen = modules.reverts();
  }

  /** The transaction has made all its changes: the journal stays as it is from now on, and later reverts are of another one. */
  complete(): void {
    this.#revertsAtEnd = this.#modules.reverts();
  }

  code(codeHash: Hash): Uint8Array {
    return this.#modules.code(codeHash);
  }

  account(address: Address): Account | undefined {
    const { accounts } = this.#refreshed();
    const of = this.#modules.overlayOf(address);
    return accounts.has(of) ? accounts.get(of) : of.account;
  }

  storage(address: Address, slot: Hash): bigint {
    const { of, written, cleared, own } = this.#before(address);
    const value = own?.has(slot) ? own.get(slot) : written.get(slot);
    if (value !== undefined) return value;
    if (cleared) return 0n;
    let loaded = of.loaded.get(slot);
    if (loaded === undefined) {
      loaded = this.#modules.base.storage(address, slot);
      loadedOf(of).set(slot, loaded);
    }
    return loaded;
  }

  *storageEntries(address: Address): Iterable<readonly [slot: Hash, value: bigint]> {
    const { written, cleared, own } = this.#before(address);
    const values = new Map<Hash, bigint | undefined>([...written, ...(own ?? [])]);
    for (const [slot, value] of values) if (value) yield [slot, value];
    if (cleared) return;
    for (const entry of this.#modules.base.storageEntries(address)) {
      if (values.get(entry[0]) === undefined) yield entry;
    }
  }

  /** @property own slots that were written since, which `written` has not as they were */
  #before(address: Address) {
    const { deletions, slots } = this.#refreshed();
    const of = this.#modules.overlayOf(address);
    const { written, cleared } = deletions.get(of) ?? of;
    return { of, written, cleared, own: slots.get(of) };
  }

  /** With what was changed since the last read. */
  #refreshed(): Restored {
    const { journal } = this.#modules;
    const reverts = this.#revertsAtEnd ?? this.#modules.reverts();
    if (this.#restored === undefined || reverts !== this.#revertsSeen) {
      this.#restored = { accounts: new Map(), slots: new Map(), deletions: new Map() };
      this.#revertsSeen = reverts;
      this.#end = this.#start;
    }
    for (; this.#end < journal.length; this.#end++) addTo(this.#restored, journal[this.#end]!);
    return this.#restored;
  }
}

function addTo({ accounts, slots, deletions }: Restored, step: Undo): void {
  if (step.kind === "touch" || step.kind === "code") return;
  const { of } = step;
  if (step.kind === "slot") {
    // What was written before a deletion is in the map that the deletion took away.
    if (!deletions.has(of)) addSlot(slots, step);
    return;
  }
  if (!accounts.has(of)) accounts.set(of, step.account);
  if (step.kind === "deletion" && !deletions.has(of)) deletions.set(of, step);
}

function addSlot(slots: Restored["slots"], { of, slot, value }: Extract<Undo, { kind: "slot" }>): void {
  let own = slots.get(of);
  if (own === undefined) {
    own = new Map();
    slots.set(of, own);
  }
  if (!own.has(slot)) own.set(slot, value);
}
