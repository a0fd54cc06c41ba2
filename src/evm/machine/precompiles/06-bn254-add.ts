import { bn254Add } from "../../../base/crypto/bn254.ts";
import { BN254_ADD_BYZANTIUM_GAS, BN254_ADD_GAS } from "../../../base/params/gas.ts";
import type { Precompile } from "../state-port.ts";
import { BN254_FAILURE, inputSlice } from "./input.ts";

/**
 * Sum of two points of alt_bn128: EIP-196, gas of EIP-196 and EIP-1108.
 *
 *     point 64 ‖ point 64  →  point 64
 */
const INPUT_LENGTH = 128;

export const bn254AddByzantium: Precompile = {
  name: "BN254_ADD",
  gas: () => BN254_ADD_BYZANTIUM_GAS,
  run,
};
export const bn254AddIstanbul: Precompile = { name: "BN254_ADD", gas: () => BN254_ADD_GAS, run };

function run(input: Uint8Array): ReturnType<Precompile["run"]> {
  const result = bn254Add(inputSlice(input, 0, INPUT_LENGTH));
  return typeof result === "string" ? BN254_FAILURE[result] : result;
}
