import { setImmediate } from "node:timers/promises";
import { DebugError } from "../../rpc/methods/debug/database.ts";
import type { StoreInspection } from "../../rpc/ports/inspection.ts";
import type { ChainParts, ProductionParts } from "./parts.ts";

/** Maximum length of a row's key. */
const KEY_BYTES_MAX = 512;

/** The methods of `InspectionPort` on the store and its newest block. */
export function createStoreInspection(
  { reader, store }: Pick<ChainParts, "reader" | "store">,
  production: Pick<ProductionParts, "rewind">,
): StoreInspection {
  const head = () => reader.head().block.header.number;
  return {
    storeStats: () =>
      [
        `blocks: ${store.base() ?? 0} to ${head()}`,
        `block log: ${store.logBytes} bytes`,
        `index: LMDB, rows of blocks up to ${head()}`,
        "",
      ].join("\n"),
    async compactStore() {
      // Merges one part at a time, so that other calls get their turn.
      while (store.mergeSome()) await setImmediate();
    },
    row({ key }) {
      if (key.length === 0 || key.length > KEY_BYTES_MAX) return undefined;
      return store.row(key);
    },
    async rewind({ number }) {
      if (head() <= number) throw new DebugError("not allowed to rewind to a future block");
      await production.rewind(number);
    },
  };
}
