import type { Signature } from "../../crypto/secp256k1.ts";
import type { Address } from "../../primitives/address.ts";
import type { KeysPort } from "../ports/keys.ts";
import type { MaybePromise } from "../ports/maybe-promise.ts";

export type SigningKeys = { readonly keys: Pick<KeysPort, "sign" | "signWithPassphrase"> };

/** With a passphrase the key is decrypted for this one signature; without, the account must be unlocked. */
export function signWith(
  { keys }: SigningKeys,
  account: Address,
  passphrase: string | undefined,
  digest: Uint8Array,
): MaybePromise<Signature> {
  return passphrase === undefined
    ? keys.sign(account, digest)
    : keys.signWithPassphrase(account, passphrase, digest);
}
