import type { MaybePromise } from "../../base/threads/maybe-promise.ts";

/** Values that programs store with the node, by database and key (`db_*`). */
export interface DappStore {
  /** undefined: none was stored */
  getValue(input: { readonly database: string; readonly key: string }): MaybePromise<Uint8Array | undefined>;
  /** False, with nothing changed, when a limit is exceeded. */
  putValue(input: {
    readonly database: string;
    readonly key: string;
    readonly value: Uint8Array;
  }): MaybePromise<boolean>;
}
