import { sha256 as hash } from "../../../base/crypto/hashes.ts";
import { SHA256_GAS } from "../../../base/params/gas.ts";
import type { Precompile } from "../state-port.ts";
import { gasByWords } from "./input.ts";

/** SHA-256 of the input: Yellow Paper, appendix E.1. */
export const sha256: Precompile = {
  name: "SHA256",
  gas: (input) => gasByWords(input, SHA256_GAS),
  run: hash,
};
