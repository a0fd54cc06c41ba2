import { InvariantError } from "../../errors.ts";
import { compileModule } from "../../wasm/compile.ts";
import { InvalidTracerError } from "../trace-budget.ts";
import { GUEST_BIG_INT } from "./guest-big-int.ts";
import { GUEST_OBJECTS, WINDOW } from "./guest-objects.ts";
import { METER, meterModule } from "./meter-module.ts";
import { readQuickJsModule } from "./quickjs-file.ts";

const PAGE_BYTES = 65_536;
/** What the module asks for at least. */
const INITIAL_PAGES = 256;
/** Turns of loops between two looks at the clock: some 0.3 ms. */
const TURNS_PER_CHECK = 100_000;
/** Below the stack that the module has in its memory, so that recursion ends as a JavaScript error. */
const STACK_BYTES_MAX = 256 * 1024;

/** Exports of the module under the names that version 0.32.0 of the package gives them. */
type Exports = {
  readonly u: () => void;
  readonly v: (bytes: number) => number;
  readonly M: (pointer: number) => void;
  readonly K: () => number;
  readonly D: (runtime: number, bytes: number) => void;
  readonly N: (runtime: number, intrinsics: number) => number;
  readonly P: (context: number, value: number) => void;
  readonly S: (context: number, text: number) => void;
  readonly X: (context: number, bytes: number, size: number) => number;
  readonly $: (context: number, value: number) => number;
  readonly ha: (context: number, object: number, key: number) => number;
  readonly _: (context: number, text: number) => number;
  readonly Da: (
    context: number,
    name: number,
    arity: number,
    isClass: number,
    id: number,
  ) => number;
  readonly ma: (context: number, fn: number, self: number, argc: number, argv: number) => number;
  readonly na: (context: number, value: number) => number;
  readonly pa: (
    ...[context, code, size, file, isModule, flags]: [
      number,
      number,
      number,
      number,
      number,
      number,
    ]
  ) => number;
  readonly Ma: (pointer: number) => void;
  readonly Oa: () => number;
  readonly [METER]: WebAssembly.Global;
};

/** A value of the script: an address in its memory. */
export type Handle = number & { readonly __brand: "QuickJsValue" };

/** The script threw, or could not be parsed; the message is what it threw as text. */
export class ScriptError extends Error {}

/** The script needs more memory than one may have. */
export class ScriptMemoryError extends Error {}

/**
 * One QuickJS with one global object, in a memory of its own. Everything it holds, the stack included, is in that memory, so
 * `reset` brings back the state at `freeze`, whatever happened in between.
 */
export type QuickJs = {
  /** Memory shared with scripts as an ArrayBuffer: `window()` has its value, `bytes` its place. */
  readonly window: Handle;
  /** Views of the window; stay valid until the memory grows, so ask again after each call. */
  windowBytes(): Uint8Array;
  windowWords(): Float64Array;
  /** @throws ScriptError, ScriptMemoryError, and what `checkTime` throws */
  evaluate(code: string): Handle;
  /** @throws as `evaluate` */
  call(fn: Handle, self: Handle, args: readonly Handle[]): Handle;
  /** As `call`, of a function whose result nobody needs; `argv` from `argumentsOf`. */
  run(fn: Handle, self: Handle, argc: number, argv: number): void;
  argumentsOf(args: readonly Handle[]): number;
  property(object: Handle, name: string): Handle;
  string(text: string): Handle;
  text(value: Handle): string;
  release(value: Handle): void;
  /** A function of the script that calls `onHostCall`. */
  readonly hostFunction: Handle;
  freeze(): void;
  reset(): void;
  /** Its memory grew: give it up rather than reset it. */
  hasGrown(): boolean;
  /** Set by the owner for the time it uses the engine. */
  owner: QuickJsOwner;
};

type QuickJsOwner = {
  /** Called every few hundred microseconds while a script runs; throws to end it. */
  checkTime(): void;
  onHostCall(): void;
};

/** Compiles the engine: 120 ms, once per thread that traces with scripts. */
export function compileQuickJs(): WebAssembly.Module {
  return compileModule(meterModule(readQuickJsModule(), "i") as Uint8Array<ArrayBuffer>);
}

/** @param windowSize bytes of the window; @param memoryBytesMax most memory of engine and script together */
export function createQuickJs(
  module: WebAssembly.Module,
  { windowSize, memoryBytesMax }: { readonly windowSize: number; readonly memoryBytesMax: number },
): QuickJs {
  const memory = new WebAssembly.Memory({
    initial: INITIAL_PAGES,
    maximum: Math.max(INITIAL_PAGES, Math.floor(memoryBytesMax / PAGE_BYTES)),
  });
  let isMemoryFull = false;
  let snapshot: Uint8Array | undefined;
  let meter: WebAssembly.Global | undefined;
  const engine = { owner: IDLE } as QuickJs;
  const view = () => new DataView(memory.buffer);

  function onCheck(): number {
    // The module copies its data before it has exports.
    if (meter) meter.value = TURNS_PER_CHECK;
    engine.owner.checkTime();
    return 0;
  }
  const abort = () => {
    throw new ScriptMemoryError("script aborted the engine");
  };
  const ignore = () => 0;
  const instance = new WebAssembly.Instance(module, {
    // What the C library asks of its environment: no files, no time zone, no timers.
    a: {
      a: memory,
      b: abort,
      q: abort,
      r: abort,
      c: ignore,
      d: () => 52,
      o: () => 70,
      e: ignore,
      f: (count: number, size: number) => {
        view().setUint32(count, 0, true);
        view().setUint32(size, 0, true);
        return 0;
      },
      j: ignore,
      l: ignore,
      m: (_time: bigint, fields: number) => new Uint8Array(memory.buffer, fields, 44).fill(0),
      n: (...pointers: number[]) => {
        for (const at of pointers) view().setUint32(at, 0, true);
      },
      p: () => Date.now(),
      k: (bytes: number) => {
        const pages = Math.ceil(((bytes >>> 0) - memory.buffer.byteLength) / PAGE_BYTES);
        try {
          memory.grow(pages);
          return 1;
        } catch {
          isMemoryFull = true;
          return 0;
        }
      },
      i: onCheck,
      s: () => {
        engine.owner.onHostCall();
        return 0;
      },
      h: ignore,
      g: ignore,
      t: ignore,
    },
  });
  const qjs = instance.exports as unknown as Exports;
  meter = qjs[METER];
  meter.value = TURNS_PER_CHECK;
  qjs.u();
  const runtime = qjs.K();
  qjs.D(runtime, STACK_BYTES_MAX);
  const context = qjs.N(runtime, 0);
  const windowAt = (qjs.v(windowSize + 8) + 7) & -8;
  const fileName = allocateText("<eval>").at;
  const stackTop = qjs.Oa();
  let words = new Float64Array(memory.buffer, windowAt, windowSize / 8);
  /** Upper half of the representation of "an exception was thrown" */
  let exceptionTag = 0;

  function allocateText(text: string): { at: number; size: number } {
    const encoded = new TextEncoder().encode(text);
    const at = qjs.v(encoded.length + 1);
    if (at === 0) throw new ScriptMemoryError("out of memory");
    const bytes = new Uint8Array(memory.buffer);
    bytes.set(encoded, at);
    bytes[at + encoded.length] = 0;
    return { at, size: encoded.length };
  }

  let tags = new Uint32Array(memory.buffer);
  function isException(value: number): boolean {
    if (tags.length === 0) tags = new Uint32Array(memory.buffer);
    return tags[(value >>> 2) + 1] === exceptionTag;
  }

  /** @throws ScriptError when the call that returned `value` threw */
  function checked(value: number): Handle {
    if (value === 0 || isMemoryFull) throw new ScriptMemoryError("out of memory");
    if (isException(value)) {
      const error = qjs.na(context, value) as Handle;
      if (isMemoryFull) throw new ScriptMemoryError("out of memory");
      throw new ScriptError(error === 0 ? "unknown error" : textOrUnknown(error));
    }
    return value as Handle;
  }

  /** What a script threw may itself throw when it is asked for its text. */
  function textOrUnknown(value: Handle): string {
    const at = qjs.$(context, value);
    return at === 0 ? "unknown error" : textAt(at);
  }

  function textAt(at: number): string {
    const bytes = new Uint8Array(memory.buffer);
    const text = new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
    qjs.S(context, at);
    return text;
  }

  /** A stack that is used up shows as a RangeError of this process's engine. */
  function guarded<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof RangeError) throw new ScriptError("stack overflow");
      if (error instanceof WebAssembly.RuntimeError) throw new ScriptError(error.message);
      throw error;
    }
  }

  Object.assign(engine, {
    windowBytes: () => new Uint8Array(memory.buffer, windowAt, windowSize),
    windowWords: () => {
      // A memory that grew has detached its old views.
      if (words.length === 0) words = new Float64Array(memory.buffer, windowAt, windowSize / 8);
      return words;
    },
    evaluate: (code: string) =>
      guarded(() => {
        const { at, size } = allocateText(code);
        const value = qjs.pa(context, at, size, fileName, 0, 0);
        qjs.M(at);
        return checked(value);
      }),
    call: (fn: Handle, self: Handle, args: readonly Handle[]) =>
      guarded(() => {
        const argv = engine.argumentsOf(args);
        const value = qjs.ma(context, fn, self, args.length, argv);
        qjs.M(argv);
        return checked(value);
      }),
    run: (fn: Handle, self: Handle, argc: number, argv: number) => {
      try {
        const value = qjs.ma(context, fn, self, argc, argv);
        if (value === 0 || isMemoryFull || isException(value)) checked(value);
        qjs.P(context, value);
      } catch (error) {
        guarded(() => {
          throw error;
        });
      }
    },
    argumentsOf: (args: readonly Handle[]) => {
      const argv = qjs.v(Math.max(4, 4 * args.length));
      for (const [i, value] of args.entries()) view().setUint32(argv + 4 * i, value, true);
      return argv;
    },
    property: (object: Handle, name: string) =>
      guarded(() => checked(qjs.ha(context, object, engine.string(name)))),
    string: (text: string) => {
      const { at } = allocateText(text);
      const value = qjs._(context, at);
      qjs.M(at);
      return checked(value);
    },
    text: (value: Handle) =>
      guarded(() => {
        const at = qjs.$(context, value);
        if (at === 0) throw new ScriptMemoryError("out of memory");
        return textAt(at);
      }),
    release: (value: Handle) => qjs.P(context, value),
    freeze() {
      const bytes = new Uint8Array(memory.buffer);
      let end = bytes.length;
      while (end > 0 && bytes[end - 1] === 0) end--;
      snapshot = bytes.slice(0, end);
    },
    reset() {
      if (!snapshot) throw new InvariantError("an engine is reset before it was frozen");
      const bytes = new Uint8Array(memory.buffer);
      // What is past it is free to the allocator of the snapshot.
      bytes.set(snapshot);
      qjs.Ma(stackTop);
      isMemoryFull = false;
      qjs[METER].value = TURNS_PER_CHECK;
    },
    hasGrown: () => memory.buffer.byteLength > INITIAL_PAGES * PAGE_BYTES,
  } satisfies Omit<QuickJs, "window" | "hostFunction" | "owner">);

  const thrown = allocateText("throw 1");
  const exception = qjs.pa(context, thrown.at, thrown.size, fileName, 0, 0);
  exceptionTag = new Uint32Array(memory.buffer)[(exception >>> 2) + 1]!;
  qjs.na(context, exception);
  const handles = {
    window: qjs.X(context, windowAt, windowSize) as Handle,
    hostFunction: qjs.Da(context, allocateText("host").at, 0, 0, 1) as Handle,
  };
  return Object.assign(engine, handles);
}

const IDLE: QuickJsOwner = { checkTime() {}, onHostCall() {} };

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
