import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { compileFunction, createContext, Script } from "node:vm";
import { invariant } from "../../../src/base/errors.ts";

/**
 * Runs an asynchronous library that never really waits as if it were synchronous.
 *
 * The library is loaded inside a `node:vm` context with `microtaskMode: "afterEvaluate"`: V8 gives such a context its own queue of
 * promise jobs and empties it before the evaluation returns. Everything the library awaits is answered without I/O, so its
 * promise is settled by then. Other packages, and every global but `Promise`, come from the host, so that `instanceof` holds on both sides.
 */
export type SynchronousRealm = {
  /** Exports of a CommonJS file, loaded inside the realm with all it requires by a relative path. */
  load(file: string): unknown;
  /** Calls `task`, a function of the realm's modules, and returns the result of its promise. Throws what it rejected with. */
  run<T>(task: () => Promise<T>): T;
};

/** Globals of the host that modules of the realm see as parameters: faster than a look-up in the context's global object. */
const HOST_GLOBALS: Readonly<Record<string, unknown>> = {
  Array,
  ArrayBuffer,
  BigInt,
  BigUint64Array,
  Boolean,
  console,
  DataView,
  Error,
  JSON,
  Map,
  Math,
  Number,
  Object,
  process,
  RangeError,
  Set,
  String,
  Symbol,
  TextDecoder,
  TextEncoder,
  TypeError,
  Uint16Array,
  Uint32Array,
  Uint8Array,
  WeakMap,
};

type Outcome = { done: boolean; failed: boolean; value: unknown };

/** A new realm; `requireFrom` resolves the packages its modules ask for. */
export function createSynchronousRealm(requireFrom: NodeJS.Require): SynchronousRealm {
  const globals = createContext({}, { microtaskMode: "afterEvaluate" }) as Record<string, unknown>;
  // The function that awaits must itself be of the realm: a promise job is queued where its handler was born.
  const settle = compileFunction(
    `return async (task, outcome) => {
       try { outcome.value = await task(); } catch (error) { outcome.failed = true; outcome.value = error; }
       outcome.done = true;
     }`,
    [],
    { parsingContext: globals },
  )() as (task: () => Promise<unknown>, outcome: Outcome) => Promise<void>;
  const enter = new Script("enter()");
  const modules = new Map<string, { exports: unknown }>();
  let running = false;

  function load(file: string): unknown {
    const known = modules.get(file);
    if (known) return known.exports;
    const module = { exports: {} };
    modules.set(file, module);
    const body = compileFunction(
      readFileSync(file, "utf8"),
      ["exports", "require", "module", ...Object.keys(HOST_GLOBALS)],
      { filename: file, parsingContext: globals },
    );
    const requireHere = createRequire(file);
    const requireModule = (name: string) =>
      name.startsWith(".") ? load(resolve(dirname(file), name)) : requireHere(name);
    body(module.exports, requireModule, module, ...Object.values(HOST_GLOBALS));
    return module.exports;
  }

  return {
    load: (file) => load(requireFrom.resolve(file)),
    run<T>(task: () => Promise<T>): T {
      invariant(!running, "a synchronous realm runs one task at a time");
      const outcome: Outcome = { done: false, failed: false, value: undefined };
      globals["enter"] = () => {
        settle(task, outcome).catch(() => undefined);
      };
      running = true;
      try {
        enter.runInContext(globals);
      } finally {
        running = false;
      }
      invariant(outcome.done, "a task of a synchronous realm waited for something outside it");
      if (outcome.failed) throw outcome.value;
      return outcome.value as T;
    },
  };
}
