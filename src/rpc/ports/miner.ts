import type { Address } from "../../base/primitives/address.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";

/** Settings of block production that callers may change; each is written to `app.toml`. */
export interface MinerSettings {
  /** Takes effect at the next start, unless a flag or the environment overrides it then. */
  setMinimumGasPrice(input: { readonly wei: bigint }): MaybePromise<void>;
  /** Takes effect with the next block. */
  setEtherbase(input: { readonly account: Address }): MaybePromise<void>;
}
