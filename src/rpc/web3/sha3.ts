import { keccak256Hash } from "../../primitives/keccak.ts";
import { defineMethod } from "../dispatch/method.ts";
import { data, hash } from "../params/codec.ts";

/** `web3_sha3`: Keccak-256 of the bytes; despite the name not the standardised SHA3-256. */
export const sha3 = defineMethod({
  name: "web3_sha3",
  params: { input: data },
  result: hash,
  handle: ({ input }) => keccak256Hash(input),
});
