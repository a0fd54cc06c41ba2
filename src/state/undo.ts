import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Account } from "./account.ts";
import type { AccountOverlay } from "./account-overlay.ts";

/** One step back. What it restores is in it, so `revertTo` costs as much as what was changed. */
export type Undo =
  | { readonly kind: "account"; readonly of: AccountOverlay; readonly account: Account | undefined }
  | {
      readonly kind: "slot";
      readonly of: AccountOverlay;
      readonly slot: Hash;
      readonly value: bigint | undefined;
    }
  | {
      readonly kind: "deletion";
      readonly of: AccountOverlay;
      readonly account: Account | undefined;
      readonly written: ReadonlyMap<Hash, bigint>;
      readonly cleared: boolean;
    }
  | { readonly kind: "touch"; readonly address: Address }
  | { readonly kind: "code"; readonly codeHash: Hash };
