import type { Address } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";
import { allAtOnce } from "../base/threads/in-slices.ts";
import type { Chain } from "../chain/chain.ts";
import { EMPTY_ACCOUNT } from "../evm/state/account.ts";
import type { StateChanges, StateReader } from "../evm/state/reader.ts";
import { mergeChanges } from "../evm/state/state-changes.ts";
import { createWorldState } from "../evm/state/world-state.ts";
import type { DevRecord, SnapshotRecord } from "./dev-journal.ts";
import { type DevSettings, revertedSettings } from "./dev-settings.ts";

/** New values of an account's fields; those left out stay as they are. */
export type AccountEdit = {
  readonly address: Address;
  /** wei */
  readonly balance?: bigint;
  readonly nonce?: bigint;
  readonly code?: Uint8Array;
  readonly storage?: ReadonlyMap<Hash, bigint>;
};

/** Slots that are set in one step. */
const SLOTS_PER_STEP = 256;

/** What `edits` change of `base`. An account that is edited exists afterwards, even an empty one: it may have storage. */
export function changesOfEdits(edits: Iterable<AccountEdit>, base: StateReader): StateChanges {
  return allAtOnce(changesInSteps(edits, base));
}

export function* changesInSteps(edits: Iterable<AccountEdit>, base: StateReader): Generator<undefined, StateChanges> {
  const state = createWorldState(base);
  let slots = 0;
  for (const { address, balance, nonce, code, storage } of edits) {
    const before = state.account(address) ?? EMPTY_ACCOUNT;
    state.setAccount(address, {
      balance: balance ?? before.balance,
      nonce: nonce ?? before.nonce,
      codeHash: code === undefined ? before.codeHash : state.putCode(code),
    });
    for (const [slot, value] of storage ?? []) {
      state.setStorage(address, slot, value);
      if (++slots % SLOTS_PER_STEP === 0) yield;
    }
    yield;
  }
  return state.changes();
}

/** A snapshot that can be reverted to. */
export type Snapshot = SnapshotRecord & {
  /** State set by hand after its block: the same object as was in use. */
  readonly changes: StateChanges | undefined;
};

type DevState = {
  readonly settings: DevSettings;
  readonly snapshots: Map<number, Snapshot>;
  readonly nextId: number;
  /** State set by hand, by the number of the block after which it was. */
  readonly patches: ReadonlyMap<number, StateChanges>;
};

type Patch = { readonly hash: string; readonly changes: StateChanges };

/** What the records of a journal come to on this chain. What was set on blocks that are gone is gone with them. */
export function restoreDevState(
  records: Iterable<DevRecord>,
  { head, blockHash }: Pick<Chain, "head" | "blockHash">,
): DevState {
  const snapshots = new Map<number, Snapshot>();
  const patches = new Map<number, Patch>();
  let settings: DevSettings = {};
  let nextId = 1;

  const steps: { readonly [K in DevRecord["kind"]]: (record: DevRecord & { kind: K }) => void } = {
    settings(record) {
      settings = record.settings;
    },
    patch({ number, hash, first, changes }) {
      const before = patches.get(number);
      const isMore = !first && before?.hash === hash;
      patches.set(number, {
        hash,
        changes: isMore ? mergeChanges(before!.changes, changes) : changes,
      });
    },
    snapshot(record) {
      const changes = record.isPatched ? patches.get(record.number)?.changes : undefined;
      snapshots.set(record.id, { ...record, changes });
      nextId = record.id + 1;
    },
    reverted({ id }) {
      nextId = Math.max(nextId, id + 1);
      const snapshot = snapshots.get(id);
      if (snapshot === undefined) return;
      const { number, hash, changes } = snapshot;
      settings = revertedSettings(settings, snapshot.settings);
      for (const patched of patches.keys()) if (patched >= number) patches.delete(patched);
      if (changes !== undefined) patches.set(number, { hash, changes });
      for (const other of snapshots.keys()) if (other >= id) snapshots.delete(other);
    },
    reset() {
      settings = {};
      snapshots.clear();
      patches.clear();
    },
    checkpoint(checkpoint) {
      steps.reset({ kind: "reset" });
      for (const record of checkpoint.records) take(record);
      nextId = checkpoint.nextId;
    },
  };
  const take = (record: DevRecord) => (steps[record.kind] as (record: DevRecord) => void)(record);
  for (const record of records) take(record);

  const headNumber = head().block.header.number;
  const onChain = [...patches].filter(([number, { hash }]) => number <= headNumber && blockHash(number) === hash);
  const { nextBlock, ...lasting } = settings;
  return {
    settings: nextBlock?.number === headNumber + 1 ? settings : lasting,
    snapshots,
    nextId,
    patches: new Map(onChain.map(([number, { changes }]) => [number, changes])),
  };
}
