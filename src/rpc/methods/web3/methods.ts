import type { Hash } from "../../../base/primitives/hash.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { keccak256Hash, keccak256InSteps } from "../../../base/primitives/keccak.ts";
import { inSlices } from "../../../base/threads/in-slices.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import { data, hash, string } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";

/** `web3_clientVersion`: name, version, system and runtime of this node, separated by slashes. */
export const clientVersion = defineMethod({
  name: "web3_clientVersion",
  params: {},
  result: string,
  handle: (_params, { node }) => andThen(node.info(), ({ clientVersion }) => clientVersion),
});

/** Hashed in less than a millisecond. */
const SHORT_BYTES = 64 << 10;

/** `web3_sha3`: Keccak-256 of the bytes; despite the name not the standardised SHA3-256. */
export const sha3 = defineMethod({
  name: "web3_sha3",
  params: { input: data },
  example: ["0x68656c6c6f"],
  result: hash,
  handle({ input }, { sessions }) {
    if (input.length <= SHORT_BYTES) return keccak256Hash(input);
    const { hash: slices } = sessions.slices;
    // To decode it took a slice already.
    return slices
      .next()
      .then(() => inSlices(keccak256InSteps(input), slices))
      .then((digest) => bytesToHex(digest) as Hash);
  },
});
