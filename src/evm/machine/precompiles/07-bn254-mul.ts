import { bn254Multiply } from "../../../base/crypto/bn254.ts";
import { BN254_MUL_BYZANTIUM_GAS, BN254_MUL_GAS } from "../../../base/params/gas.ts";
import type { Precompile } from "../state-port.ts";
import { BN254_FAILURE, inputSlice } from "./input.ts";

/**
 * Multiple of a point of alt_bn128: EIP-196, gas of EIP-196 and EIP-1108.
 *
 *     point 64 ‖ scalar 32  →  point 64
 */
const INPUT_LENGTH = 96;

export const bn254MulByzantium: Precompile = {
  name: "BN254_MUL",
  gas: () => BN254_MUL_BYZANTIUM_GAS,
  run,
};
export const bn254MulIstanbul: Precompile = { name: "BN254_MUL", gas: () => BN254_MUL_GAS, run };

function run(input: Uint8Array): ReturnType<Precompile["run"]> {
  const result = bn254Multiply(inputSlice(input, 0, INPUT_LENGTH));
  return typeof result === "string" ? BN254_FAILURE[result] : result;
}
