/** Addresses of validators, each with one computed square root: every request of CometBFT names all keys. */
import { addressOfCompressedKey as originalAddress } from "../../../src/base/crypto/compressed-public-key.ts";
import type { Address } from "../../../src/base/primitives/address.ts";
import { Memo, textOf } from "./memo.ts";

export { compressPublicKey } from "../../../src/base/crypto/compressed-public-key.ts";

const addresses = new Memo<Address | undefined>();

export function addressOfCompressedKey(publicKey: Uint8Array): Address | undefined {
  return addresses.get(textOf(publicKey), () => originalAddress(publicKey));
}
