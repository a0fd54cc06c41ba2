import { ripemd160 as hash } from "../../../base/crypto/hashes.ts";
import { RIPEMD160_GAS } from "../../../base/params/gas.ts";
import { leftPad } from "../../../base/primitives/bytes.ts";
import type { Precompile } from "../state-port.ts";
import { gasByWords } from "./input.ts";

/** RIPEMD-160 of the input, left-padded to 32 bytes: Yellow Paper, appendix E.1. */
export const ripemd160: Precompile = {
  name: "RIPEMD160",
  gas: (input) => gasByWords(input, RIPEMD160_GAS),
  run: (input, checkpoint) => leftPad(hash(input, checkpoint), 32),
};
