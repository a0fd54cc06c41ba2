import { IDENTITY_GAS } from "../../../base/params/gas.ts";
import type { Precompile } from "../state-port.ts";
import { gasByWords } from "./input.ts";

/** A copy of the input: Yellow Paper, appendix E.1. */
export const identity: Precompile = {
  name: "ID",
  gas: (input) => gasByWords(input, IDENTITY_GAS),
  // Not slice(): on a Buffer that is a view.
  run: (input) => new Uint8Array(input),
};
