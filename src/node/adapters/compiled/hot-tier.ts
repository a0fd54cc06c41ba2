import type { EvmOptions } from "../../../evm/engine.ts";
import type { ContractCompiler } from "../../../evm/modules/compiled-tier.ts";

/**
 * Gas for each byte of code that a contract uses before it is compiled. Emission and V8 take some 60 µs a byte in a thread of their
 * own, in which the interpreter uses some 100,000 gas: so compilation costs at most as much CPU as interpretation did before.
 */
export const HOT_GAS_PER_BYTE = 100_000;

/** Options of an engine that runs hot contracts compiled. */
export function hotTier(compiler: ContractCompiler): Pick<EvmOptions, "tier"> {
  return { tier: { compiler, hotGasPerByte: HOT_GAS_PER_BYTE } };
}
