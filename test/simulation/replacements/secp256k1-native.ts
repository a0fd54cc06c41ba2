/** The native curve, which recovers the sender of a transaction once for all nodes. */
import type { Secp256k1Backend, SignedDigest } from "../../../src/base/crypto/secp256k1-backend.ts";
import { loadNativeBackend as loadOriginal } from "../../../src/base/crypto/secp256k1-native.ts";
import { Memo, textOf } from "./memo.ts";

export function loadNativeBackend(): Secp256k1Backend | undefined {
  const backend = loadOriginal();
  if (backend === undefined) return undefined;
  const keys = new Memo<Uint8Array | undefined>();
  const recover = (signed: SignedDigest) => {
    const { digest, signature, yParity } = signed;
    const text = `${textOf(digest)} ${textOf(signature)} ${yParity}`;
    return keys.get(text, () => backend.recover([signed])[0])?.slice();
  };
  return { ...backend, recover: (signed) => signed.map(recover) };
}
