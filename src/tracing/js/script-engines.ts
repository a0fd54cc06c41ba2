import { InvalidTracerError } from "../errors.ts";
import { GUEST_BIG_INT } from "./guest-big-int.ts";
import { GUEST_OBJECTS, WINDOW } from "./guest-objects.ts";
import { compileQuickJs, createQuickJs, type Handle, type QuickJs } from "./quickjs.ts";

/** An engine with geth's objects in it, ready for one script. */
export type ScriptEngine = {
  readonly quickJs: QuickJs;
  /** `{ log, db, frame, frameResult, has, begin, result }` of the guest's code. */
  readonly guest: Readonly<Record<"has" | "begin" | "result", Handle>>;
  /** Arguments of step and fault, of enter and of exit. */
  readonly stepArguments: number;
  readonly enterArguments: number;
  readonly exitArguments: number;
};

/** The engines of one thread: made on first use, used again one script after the other. */
export type ScriptEngines = {
  /** @throws InvalidTracerError when as many scripts as may are running on this thread */
  acquire(): ScriptEngine;
  release(engine: ScriptEngine): void;
};

/** Scripts that may run at once on one thread: the members of one muxTracer. */
const ENGINES_MAX = 4;

export function createScriptEngines(options: { readonly memoryBytesMax: number }): ScriptEngines {
  let module: WebAssembly.Module | undefined;
  const idle: ScriptEngine[] = [];
  let count = 0;
  return {
    acquire() {
      const engine = idle.pop();
      if (engine) {
        engine.quickJs.reset();
        return engine;
      }
      if (count === ENGINES_MAX) {
        throw new InvalidTracerError(`more than ${ENGINES_MAX} JavaScript tracers at once`);
      }
      module ??= compileQuickJs();
      const created = createEngine(module, options.memoryBytesMax);
      count++;
      return created;
    },
    release(engine) {
      // Memory of WebAssembly cannot shrink.
      if (engine.quickJs.hasGrown()) count--;
      else idle.push(engine);
    },
  };
}

function createEngine(module: WebAssembly.Module, memoryBytesMax: number): ScriptEngine {
  const quickJs = createQuickJs(module, { windowSize: WINDOW.size, memoryBytesMax });
  const bigInt = quickJs.evaluate(GUEST_BIG_INT);
  const undefinedValue = quickJs.evaluate("undefined");
  const guest = quickJs.call(quickJs.evaluate(GUEST_OBJECTS), undefinedValue, [
    quickJs.window,
    quickJs.hostFunction,
    bigInt,
  ]);
  const member = (name: string) => quickJs.property(guest, name);
  const engine = {
    quickJs,
    guest: { has: member("has"), begin: member("begin"), result: member("result") },
    stepArguments: quickJs.argumentsOf([member("log"), member("db")]),
    enterArguments: quickJs.argumentsOf([member("frame")]),
    exitArguments: quickJs.argumentsOf([member("frameResult")]),
  };
  quickJs.freeze();
  return engine;
}
