import { recoverAddress } from "../../crypto/secp256k1.ts";
import { bytesToBigint } from "../../primitives/bytes.ts";
import { InvalidSignatureError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { messageHash } from "../eth/sign/message-hash.ts";
import { address, data } from "../params/codec.ts";
import type { RpcSettings } from "../ports/rpc-ports.ts";

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
  handle({ message, signature }, { settings }: { settings: Pick<RpcSettings, "chainName"> }) {
    if (signature.length !== 65) {
      throw new InvalidSignatureError("signature must be 65 bytes long");
    }
    const v = signature[64]!;
    if (v !== 27 && v !== 28) {
      throw new InvalidSignatureError("invalid Ethereum signature (V is not 27 or 28)");
    }
    const signer = recoverAddress(
      messageHash(settings.chainName, message),
      bytesToBigint(signature.subarray(0, 32)),
      bytesToBigint(signature.subarray(32, 64)),
      v === 27 ? 0 : 1,
    );
    if (signer === undefined) throw new InvalidSignatureError("recovery failed");
    return signer;
  },
});
