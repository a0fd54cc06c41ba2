import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
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

/** The state before a transaction: what the first entry of the journal for each value restores, and what is there now for the rest. */
export class StateBefore implements StateReader {
  readonly #modules: StateBeforeModules;
  readonly #accounts = new Map<AccountOverlay, Account | undefined>();
  readonly #slots = new Map<AccountOverlay, Map<Hash, bigint | undefined>>();
  readonly #deletions = new Map<AccountOverlay, Deletion>();
  /** Entries of the journal. */
  readonly #start: number;
  #end: number;
  #revertsSeen: number;
  #isComplete = false;

  constructor(modules: StateBeforeModules) {
    this.#modules = modules;
    this.#start = modules.journal.length;
    this.#end = this.#start;
    this.#revertsSeen = modules.reverts();
  }

  /** The transaction has made all its changes: the journal ends here. */
  complete(): void {
    this.#refresh();
    this.#isComplete = true;
  }

  code(codeHash: Hash): Uint8Array {
    return this.#modules.code(codeHash);
  }

  account(address: Address): Account | undefined {
    const { of } = this.#before(address);
    return this.#accounts.has(of) ? this.#accounts.get(of) : of.account;
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
    this.#refresh();
    const of = this.#modules.overlayOf(address);
    const { written, cleared } = this.#deletions.get(of) ?? of;
    return { of, written, cleared, own: this.#slots.get(of) };
  }

  /** Takes in what was changed since the last read. */
  #refresh(): void {
    if (this.#isComplete) return;
    const { journal, reverts } = this.#modules;
    if (reverts() !== this.#revertsSeen) {
      this.#revertsSeen = reverts();
      this.#end = this.#start;
      for (const map of [this.#accounts, this.#slots, this.#deletions]) map.clear();
    }
    for (; this.#end < journal.length; this.#end++) this.#add(journal[this.#end]!);
  }

  #add(step: Undo): void {
    if (step.kind === "touch" || step.kind === "code") return;
    const { of } = step;
    if (step.kind === "slot") {
      // What was written before a deletion is in the map that the deletion took away.
      if (!this.#deletions.has(of)) this.#addSlot(of, step.slot, step.value);
      return;
    }
    if (!this.#accounts.has(of)) this.#accounts.set(of, step.account);
    if (step.kind === "deletion" && !this.#deletions.has(of)) this.#deletions.set(of, step);
  }

  #addSlot(of: AccountOverlay, slot: Hash, value: bigint | undefined): void {
    let own = this.#slots.get(of);
    if (own === undefined) {
      own = new Map();
      this.#slots.set(of, own);
    }
    if (!own.has(slot)) own.set(slot, value);
  }
}
