import { InvalidValueError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { boolean, data, hash, type ParamCodec } from "../../params/codec.ts";

const blockNonce: ParamCodec<Uint8Array> = {
  decode(value, field) {
    const bytes = data.decode(value, field);
    if (bytes.length === 8) return bytes;
    throw new InvalidValueError(
      `hex string has length ${bytes.length * 2}, want 16 for types.BlockNonce`,
    );
  },
};

/** `eth_submitWork`: false, because no work was given out. */
export const submitWork = defineMethod({
  name: "eth_submitWork",
  params: { nonce: blockNonce, powHash: hash, mixDigest: hash },
  result: boolean,
  handle: () => false,
});
