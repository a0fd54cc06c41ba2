import { ContractEmitter } from "../../evm/gen/compiled/contract.ts";
import { compileOptimised } from "../../evm/modules/interpreters.ts";
import { rulesOf } from "../../evm/rules.ts";
import type { Hardfork } from "../../params/hardforks.ts";
import { serveTasks } from "./serve-tasks.ts";

export type CompileInput = { readonly code: Uint8Array; readonly hardfork: Hardfork };

/** undefined: the contract would become too large a module. */
export type CompileResult =
  | { readonly module: WebAssembly.Module; readonly bytes: number }
  | undefined;

const emitters = new Map<Hardfork, ContractEmitter>();

serveTasks<CompileInput, CompileResult>(({ code, hardfork }) => {
  const emitter = emitters.get(hardfork) ?? new ContractEmitter(rulesOf(hardfork));
  emitters.set(hardfork, emitter);
  const bytes = emitter.emit(code);
  // The module is shared with the thread that asked, and with it its machine code.
  return bytes && { module: compileOptimised(bytes), bytes: bytes.length };
});
