import type { Chain } from "../chain/chain.ts";
import type { StateChanges } from "../state/reader.ts";
import { mergeChanges } from "../state/state-changes.ts";
import type { DevRecord, SnapshotRecord } from "./dev-journal.ts";
import type { DevSettings } from "./dev-settings.ts";

export type DevState = {
  readonly settings: DevSettings;
  readonly snapshots: Map<number, SnapshotRecord>;
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
  const snapshots = new Map<number, SnapshotRecord>();
  const patches = new Map<number, Patch>();
  let settings: DevSettings = {};
  let nextId = 1;

  const steps: { readonly [K in DevRecord["kind"]]: (record: DevRecord & { kind: K }) => void } = {
    settings(record) {
      settings = record.settings;
    },
    patch({ number, hash, changes }) {
      const before = patches.get(number);
      const isMore = before?.hash === hash;
      patches.set(number, {
        hash,
        changes: isMore ? mergeChanges(before.changes, changes) : changes,
      });
    },
    snapshot(record) {
      snapshots.set(record.id, record);
      nextId = record.id + 1;
    },
    reverted({ id }) {
      const snapshot = snapshots.get(id);
      if (snapshot === undefined) return;
      const { number, hash, changes } = snapshot;
      settings = snapshot.settings;
      for (const patched of patches.keys()) if (patched >= number) patches.delete(patched);
      if (changes !== undefined) patches.set(number, { hash, changes });
      for (const other of snapshots.keys()) if (other >= id) snapshots.delete(other);
    },
    reset() {
      settings = {};
      snapshots.clear();
      patches.clear();
    },
  };
  for (const record of records) (steps[record.kind] as (record: DevRecord) => void)(record);

  const headNumber = head().block.header.number;
  const onChain = [...patches].filter(
    ([number, { hash }]) => number <= headNumber && blockHash(number) === hash,
  );
  const { nextBlock, ...lasting } = settings;
  return {
    settings: nextBlock?.number === headNumber + 1 ? settings : lasting,
    snapshots,
    nextId,
    patches: new Map(onChain.map(([number, { changes }]) => [number, changes])),
  };
}
