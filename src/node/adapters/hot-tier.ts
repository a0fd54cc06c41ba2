import type { EvmOptions } from "../../evm/engine.ts";
import type { ContractCompiler } from "../../evm/modules/compiled-tier.ts";

/**
 * Gas for each byte of code that a contract uses before it is compiled. V8 takes some 30 µs a byte to optimise it, in which the
 * interpreter uses some 200,000 gas: this is the gas of a tenth of that time.
 */
const HOT_GAS_PER_BYTE = 20_000;

/** Options of an engine that runs hot contracts compiled. */
export function hotTier(compiler: ContractCompiler): Pick<EvmOptions, "tier"> {
  return { tier: { compiler, hotGasPerByte: HOT_GAS_PER_BYTE } };
}
