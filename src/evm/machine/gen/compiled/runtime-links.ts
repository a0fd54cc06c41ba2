import { call, type FunctionRef } from "../../../../base/wasm/function.ts";
import { ModuleBuilder } from "../../../../base/wasm/module.ts";
import type { Rules } from "../../rules.ts";
import { defineRuntime, type Runtime } from "../runtime/runtime.ts";

/** The functions of the runtime by the names under which the interpreter exports them for compiled contracts. */
export function exportRuntime(module: ModuleBuilder, runtime: Runtime): void {
  mapFunctions(runtime, "", (name, ref) => {
    module.export(name, ref);
    return ref;
  });
}

/** The functions of the runtime, to read their signatures. */
export function runtimeSignatures(rules: Rules): Runtime {
  return defineRuntime(new ModuleBuilder(), rules, [0n, 0n, 0n, 0n]);
}

/**
 * The runtime of an interpreter as imports of another module. `runtime` calls them through functions of that module, for
 * code with loops: V8 reads the targets of imports at the head of a loop. `direct` is without these.
 */
export function importRuntime(
  module: ModuleBuilder,
  signatures: Runtime,
): { readonly runtime: Runtime; readonly direct: Runtime } {
  const direct = mapFunctions(signatures, "", (name, { params, results }) => module.import(name, params, results));
  return { runtime: forwardFunctions(module, direct), direct };
}

/** `functions` with each replaced by one of the module that calls it, defined when it is used first. */
function forwardFunctions<T extends object>(module: ModuleBuilder, functions: T): T {
  const forwards = { ...functions };
  for (const [name, value] of Object.entries(functions)) {
    if (name === "rules") continue;
    if (!isFunction(value)) {
      Object.assign(forwards, { [name]: forwardFunctions(module, value) });
      continue;
    }
    let forward: FunctionRef | undefined;
    const get = () => {
      forward ??= module.define(value.params, value.results, (f, ...params) => f.do(call(value, ...params)));
      return forward;
    };
    Object.defineProperty(forwards, name, { get });
  }
  return forwards;
}

function mapFunctions<T extends object>(
  functions: T,
  prefix: string,
  map: (name: string, ref: FunctionRef) => FunctionRef,
): T {
  return Object.fromEntries(
    Object.entries(functions).map(([name, value]) => {
      const path = `${prefix}${name}`;
      if (NOT_LINKED.has(path)) return [name, value];
      if (isFunction(value)) return [name, map(`runtime.${path}`, value)];
      return [name, mapFunctions(value, `${path}.`, map)];
    }),
  ) as T;
}

/** Not functions, or such as only the interpreter's own functions call. */
const NOT_LINKED: ReadonlySet<string> = new Set([
  "rules",
  ...["isOutOfTime", "load", "access", "delegate", "exhausted", "log", "step"].map((name) => `imports.${name}`),
]);

function isFunction(value: object): value is FunctionRef {
  return "index" in value;
}
