import type { Kv, KvRange, KvReader, KvRow, KvWriter } from "../../../../src/store/storage/kv.ts";

/** `kv` with rows that can be lost: those whose key `isLost` picks are as if they had never been written. */
export function createLossyKv(kv: Kv): Kv & { isLost: (key: Uint8Array) => boolean } {
  const reader = (inner: KvReader): KvReader => ({
    get: (key) => (lossy.isLost(key) ? undefined : inner.get(key)),
    view: (key) => (lossy.isLost(key) ? undefined : inner.view(key)),
    *range(range: KvRange): Generator<KvRow> {
      for (const row of inner.range(range)) if (!lossy.isLost(row[0])) yield row;
    },
  });
  const lossy = {
    ...reader(kv),
    isLost: (_: Uint8Array): boolean => false,
    transaction: <T>(work: (writer: KvWriter) => T): T =>
      kv.transaction((writer) =>
        work({
          ...reader(writer),
          put: (key, value) => writer.put(key, value),
          remove: (key) => writer.remove(key),
        }),
      ),
    sync: () => kv.sync(),
    close: () => kv.close(),
  };
  return lossy;
}
