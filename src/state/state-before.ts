import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Account } from "./account.ts";
import type { AccountOverlay } from "./account-overlay.ts";
import type { StateReader } from "./reader.ts";
import type { Undo } from "./undo.ts";

export type StateBeforeModules = Pick<StateReader, "code"> & {
  readonly base: StateReader;
  /** One entry for each change. */
  readonly journal: readonly Undo[];
  overlayOf(address: Address): AccountOverlay;
  storageInBase(overlay: AccountOverlay, slot: Hash): bigint;
  /** How often entries were removed from the journal. */
  reverts(): number;
};

type Deletion = Extract<Undo, { kind: "deletion" }>;

/** The state in which the journal had `snapshot` entries: what the first entry after that restores, and for the rest what is there now. */
export function createStateBefore(snapshot: number, modules: StateBeforeModules): StateReader {
  const { base, journal, overlayOf, storageInBase, code, reverts } = modules;
  const accounts = new Map<AccountOverlay, Account | undefined>();
  const slots = new Map<AccountOverlay, Map<Hash, bigint | undefined>>();
  const deletions = new Map<AccountOverlay, Deletion>();
  let end = snapshot;
  let revertsSeen = reverts();

  function addSlot(of: AccountOverlay, slot: Hash, value: bigint | undefined): void {
    // What was written before the deletion is in the deletion's own map.
    if (deletions.has(of)) return;
    let own = slots.get(of);
    if (own === undefined) {
      own = new Map();
      slots.set(of, own);
    }
    if (!own.has(slot)) own.set(slot, value);
  }

  function add(step: Undo): void {
    if (step.kind === "account" || step.kind === "deletion") {
      if (!accounts.has(step.of)) accounts.set(step.of, step.account);
    }
    if (step.kind === "slot") addSlot(step.of, step.slot, step.value);
    else if (step.kind === "deletion" && !deletions.has(step.of)) deletions.set(step.of, step);
  }

  /** Takes in what was changed since the last read. */
  function refresh(): void {
    if (reverts() !== revertsSeen) {
      revertsSeen = reverts();
      end = snapshot;
      for (const map of [accounts, slots, deletions]) map.clear();
    }
    for (; end < journal.length; end++) add(journal[end]!);
  }

  /** The overlay as it was, without what `slots` has. */
  function overlayBefore(address: Address) {
    refresh();
    const of = overlayOf(address);
    const { written, cleared } = deletions.get(of) ?? of;
    return { of, written, cleared, own: slots.get(of) };
  }

  return {
    code,
    account(address) {
      refresh();
      const of = overlayOf(address);
      return accounts.has(of) ? accounts.get(of) : of.account;
    },
    storage(address, slot) {
      const { of, written, cleared, own } = overlayBefore(address);
      const value = own?.has(slot) ? own.get(slot) : written.get(slot);
      if (value !== undefined) return value;
      return cleared ? 0n : storageInBase(of, slot);
    },
    *storageEntries(address) {
      const { written, cleared, own } = overlayBefore(address);
      const values = new Map<Hash, bigint | undefined>([...written, ...(own ?? [])]);
      for (const [slot, value] of values) if (value) yield [slot, value];
      if (cleared) return;
      for (const entry of base.storageEntries(address)) {
        if (values.get(entry[0]) === undefined) yield entry;
      }
    },
  };
}
