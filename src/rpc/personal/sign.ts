import { recoverAddress } from "../../crypto/secp256k1.ts";
import type { AccountSigner } from "../../keystore/account-signer.ts";
import { bytesToBigint } from "../../primitives/bytes.ts";
import { InvalidSignatureError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { messageHash, signatureBytes } from "../eth/sign/message-hash.ts";
import { typedDataHash } from "../eth/sign/typed-data.ts";
import { address, data, json, optional, string } from "../params/codec.ts";
import type { PassphraseSigner } from "../ports/execution.ts";

type SignModules = {
  readonly signer: AccountSigner;
  readonly passphraseSigner: PassphraseSigner | undefined;
};

/**
 * `personal_sign`: signature over the prefixed message; 65 bytes, v 27 or 28. With a passphrase the key is decrypted for this one
 * signature; without, as wallet libraries call it, the account must be unlocked.
 *
 * @throws UnknownAccountError, AccountLockedError, and the key store's
 */
export const personalSign = defineMethod({
  name: "personal_sign",
  params: { message: data, account: address, passphrase: optional(string) },
  result: data,
  private: true,
  async handle(
    { message, account, passphrase },
    modules: SignModules & { readonly chainName: string },
  ) {
    const digest = messageHash(modules.chainName, message);
    return signatureBytes(await signWith(modules, account, passphrase, digest));
  },
});

/** `personal_signTypedData`: as `personal_sign`, over EIP-712 data given as object or as JSON text. */
export const personalSignTypedData = defineMethod({
  name: "personal_signTypedData",
  params: { typedData: json, account: address, passphrase: optional(string) },
  result: data,
  private: true,
  async handle({ typedData, account, passphrase }, modules: SignModules) {
    return signatureBytes(await signWith(modules, account, passphrase, typedDataHash(typedData)));
  },
});

/**
 * `personal_ecRecover`: the account whose key made a `personal_sign` signature over `message`.
 *
 * @throws InvalidSignatureError
 */
export const ecRecover = defineMethod({
  name: "personal_ecRecover",
  params: { message: data, signature: data },
  result: address,
  private: true,
  handle({ message, signature }, { chainName }: { readonly chainName: string }) {
    if (signature.length !== 65) {
      throw new InvalidSignatureError("signature must be 65 bytes long");
    }
    const v = signature[64]!;
    if (v !== 27 && v !== 28) {
      throw new InvalidSignatureError("invalid Ethereum signature (V is not 27 or 28)");
    }
    const signer = recoverAddress(
      messageHash(chainName, message),
      bytesToBigint(signature.subarray(0, 32)),
      bytesToBigint(signature.subarray(32, 64)),
      v === 27 ? 0 : 1,
    );
    if (signer === undefined) throw new InvalidSignatureError("recovery failed");
    return signer;
  },
});

async function signWith(
  { signer, passphraseSigner }: SignModules,
  account: Parameters<PassphraseSigner>[0],
  passphrase: string | undefined,
  digest: Uint8Array,
) {
  return passphrase !== undefined && passphraseSigner
    ? passphraseSigner(account, passphrase, digest)
    : signer.sign(account, digest);
}
