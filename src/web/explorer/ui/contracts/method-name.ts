import { COMMON_FUNCTIONS } from "./common-functions.ts";
import { clippedName, functionNames, nodeContractAt, nodeContracts } from "./known-contracts.ts";
import { uploadedAt, uploadedContracts } from "./uploaded.ts";

/** `0x` and four bytes. */
const SELECTOR_CHARS = 10;

/** The method column of a transaction: the name of the called function, or its selector if the name is unknown. */
export function methodName(to: string | null, input: string): string {
  if (to === null) return "create";
  if (input.length < SELECTOR_CHARS) return "send";
  const selector = input.slice(0, SELECTOR_CHARS).toLowerCase();
  const own = [uploadedAt(to), nodeContractAt(to)];
  // A proxy has the functions of another contract.
  for (const contract of [...own, ...uploadedContracts(), ...nodeContracts()]) {
    const name = contract && functionNames(contract.abi).get(selector);
    if (name) return clippedName(name);
  }
  return COMMON_FUNCTIONS[selector.slice(2)]?.split("(")[0] ?? selector;
}
