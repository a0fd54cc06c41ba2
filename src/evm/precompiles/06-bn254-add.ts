import { bn254Add } from "../../crypto/bn254.ts";
import type { Precompile } from "../evm.ts";
import { BN254_FAILURE } from "./bn254-failure.ts";
import { inputSlice } from "./input.ts";

/**
 * Sum of two points of alt_bn128: EIP-196, prices of EIP-196 and EIP-1108.
 *
 *     point 64 ‖ point 64  →  point 64
 */
const INPUT_LENGTH = 128;

export const bn254AddByzantium: Precompile = { name: "BN254_ADD", gas: () => 500n, run };
export const bn254AddIstanbul: Precompile = { name: "BN254_ADD", gas: () => 150n, run };

function run(input: Uint8Array): ReturnType<Precompile["run"]> {
  const result = bn254Add(inputSlice(input, 0, INPUT_LENGTH));
  return typeof result === "string" ? BN254_FAILURE[result] : result;
}
