import type { Address } from "../../primitives/address.ts";

/** Settings of block production that callers may change; each is kept in `app.toml`. */
export interface MinerSettings {
  /** Takes effect at the next start, unless a flag or the environment says otherwise then. */
  setMinimumGasPrice(wei: bigint): void;
  /** Takes effect with the next block. @throws InvalidEtherbaseError */
  setEtherbase(account: Address): void;
}
