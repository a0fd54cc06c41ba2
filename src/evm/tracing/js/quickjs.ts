import { InvariantError } from "../../../base/errors.ts";
import { compileModule } from "../../../base/wasm/compile.ts";
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
  readonly Da: (context: number, name: number, arity: number, isClass: number, id: number) => number;
  readonly ma: (context: number, fn: number, self: number, argc: number, argv: number) => number;
  readonly na: (context: number, value: number) => number;
  readonly pa: (
    ...[context, code, size, file, isModule, flags]: [number, number, number, number, number, number]
  ) => number;
  readonly Ma: (pointer: number) => void;
  readonly Oa: () => number;
  readonly [METER]: WebAssembly.Global;
};

/** A value of the script: an address in its memory. */
export type Handle = number & { readonly __brand: "QuickJsValue" };

/** The script threw or could not be parsed; the message is the thrown value as text. */
export class ScriptError extends Error {}

export class ScriptMemoryError extends Error {}

const IDLE: QuickJsOwner = { checkTime() {}, onHostCall() {} };

type QuickJsOwner = {
  /** Called every few hundred microseconds while a script runs; throws to end it. */
  checkTime(): void;
  onHostCall(): void;
};

/** Compiles the engine: 120 ms, once per thread that traces with scripts. */
function compileQuickJs(): WebAssembly.Module {
  return compileModule(meterModule(readQuickJsModule(), "i") as Uint8Array<ArrayBuffer>);
}

/**
 * One QuickJS with one global object, in a memory of its own. Everything it holds, the stack included, is in that memory, so
 * `reset` brings back the state at `freeze`, whatever happened in between.
 */
export class QuickJs {
  /** Set by the owner for the time it uses the engine. */
  owner = IDLE;
  /** Memory shared with scripts as an ArrayBuffer: its value in scripts. */
  readonly window: Handle;
  /** A function of the script that calls `onHostCall`. */
  readonly hostFunction: Handle;
  readonly #memory: WebAssembly.Memory;
  readonly #qjs: Exports;
  readonly #context: number;
  readonly #fileName: number;
  readonly #stackTop: number;
  readonly #windowAt: number;
  readonly #windowSize: number;
  #words: Float64Array;
  #tags: Uint32Array;
  /** Upper half of the representation of "an exception was thrown" */
  #exceptionTag = 0;
  #meter: WebAssembly.Global | undefined;
  #isMemoryFull = false;
  #snapshot: Uint8Array | undefined;

  /** @param options.windowSize bytes of the window; `memoryBytesMax`: most memory of engine and script together */
  constructor(module: WebAssembly.Module, options: { readonly windowSize: number; readonly memoryBytesMax: number }) {
    const { windowSize, memoryBytesMax } = options;
    const memory = new WebAssembly.Memory({
      initial: INITIAL_PAGES,
      maximum: Math.max(INITIAL_PAGES, Math.floor(memoryBytesMax / PAGE_BYTES)),
    });
    this.#memory = memory;
    const instance = new WebAssembly.Instance(module, { a: this.#environment() });
    const qjs = instance.exports as unknown as Exports;
    this.#qjs = qjs;
    this.#meter = qjs[METER];
    this.#meter.value = TURNS_PER_CHECK;
    qjs.u();
    const runtime = qjs.K();
    qjs.D(runtime, STACK_BYTES_MAX);
    this.#context = qjs.N(runtime, 0);
    this.#windowSize = windowSize;
    this.#windowAt = (qjs.v(windowSize + 8) + 7) & -8;
    this.#fileName = this.#allocateText("<eval>").at;
    this.#stackTop = qjs.Oa();
    this.#words = new Float64Array(memory.buffer, this.#windowAt, windowSize / 8);
    this.#tags = new Uint32Array(memory.buffer);
    const thrown = this.#allocateText("throw 1");
    const exception = qjs.pa(this.#context, thrown.at, thrown.size, this.#fileName, 0, 0);
    this.#exceptionTag = new Uint32Array(memory.buffer)[(exception >>> 2) + 1]!;
    qjs.na(this.#context, exception);
    this.window = qjs.X(this.#context, this.#windowAt, windowSize) as Handle;
    const name = this.#allocateText("host").at;
    this.hostFunction = qjs.Da(this.#context, name, 0, 0, 1) as Handle;
  }

  /** A view of the window; stays valid until the memory grows, so ask again after each call. */
  windowBytes(): Uint8Array {
    return new Uint8Array(this.#memory.buffer, this.#windowAt, this.#windowSize);
  }

  windowWords(): Float64Array {
    // A memory that grew has detached its old views.
    if (this.#words.length === 0) {
      this.#words = new Float64Array(this.#memory.buffer, this.#windowAt, this.#windowSize / 8);
    }
    return this.#words;
  }

  /** @throws ScriptError, ScriptMemoryError, and what `checkTime` throws */
  evaluate(code: string): Handle {
    return guarded(() => {
      const { at, size } = this.#allocateText(code);
      const value = this.#qjs.pa(this.#context, at, size, this.#fileName, 0, 0);
      this.#qjs.M(at);
      return this.#checked(value);
    });
  }

  /** @throws as `evaluate` */
  call(fn: Handle, self: Handle, args: readonly Handle[]): Handle {
    return guarded(() => {
      const argv = this.argumentsOf(args);
      const value = this.#qjs.ma(this.#context, fn, self, args.length, argv);
      this.#qjs.M(argv);
      return this.#checked(value);
    });
  }

  /** Like `call`, but ignores the result; `argv` from `argumentsOf`. */
  run(fn: Handle, self: Handle, argc: number, argv: number): void {
    try {
      const value = this.#qjs.ma(this.#context, fn, self, argc, argv);
      if (value === 0 || this.#isMemoryFull || this.#isException(value)) this.#checked(value);
      this.#qjs.P(this.#context, value);
    } catch (error) {
      throw asScriptError(error);
    }
  }

  argumentsOf(args: readonly Handle[]): number {
    const argv = this.#qjs.v(Math.max(4, 4 * args.length));
    for (const [i, value] of args.entries()) this.#view().setUint32(argv + 4 * i, value, true);
    return argv;
  }

  property(object: Handle, name: string): Handle {
    return guarded(() => this.#checked(this.#qjs.ha(this.#context, object, this.string(name))));
  }

  string(text: string): Handle {
    const { at } = this.#allocateText(text);
    const value = this.#qjs._(this.#context, at);
    this.#qjs.M(at);
    return this.#checked(value);
  }

  text(value: Handle): string {
    return guarded(() => {
      const at = this.#qjs.$(this.#context, value);
      if (at === 0) throw new ScriptMemoryError("out of memory");
      return this.#textAt(at);
    });
  }

  release(value: Handle): void {
    this.#qjs.P(this.#context, value);
  }

  freeze(): void {
    const bytes = new Uint8Array(this.#memory.buffer);
    let end = bytes.length;
    while (end > 0 && bytes[end - 1] === 0) end--;
    this.#snapshot = bytes.slice(0, end);
  }

  reset(): void {
    if (!this.#snapshot) throw new InvariantError("an engine is reset before it was frozen");
    const bytes = new Uint8Array(this.#memory.buffer);
    // What is past it is free to the allocator of the snapshot.
    bytes.set(this.#snapshot);
    this.#qjs.Ma(this.#stackTop);
    this.#isMemoryFull = false;
    this.#qjs[METER].value = TURNS_PER_CHECK;
  }

  /** Its memory grew: give it up rather than reset it. */
  hasGrown(): boolean {
    return this.#memory.buffer.byteLength > INITIAL_PAGES * PAGE_BYTES;
  }

  #view(): DataView {
    return new DataView(this.#memory.buffer);
  }

  /** What the C library asks of its environment: no files, no time zone, no timers. */
  #environment() {
    const abort = () => {
      throw new ScriptMemoryError("script aborted the engine");
    };
    const ignore = () => 0;
    return {
      a: this.#memory,
      b: abort,
      q: abort,
      r: abort,
      c: ignore,
      d: () => 52,
      o: () => 70,
      e: ignore,
      f: (count: number, size: number) => {
        this.#view().setUint32(count, 0, true);
        this.#view().setUint32(size, 0, true);
        return 0;
      },
      j: ignore,
      l: ignore,
      m: (_time: bigint, fields: number) => new Uint8Array(this.#memory.buffer, fields, 44).fill(0),
      n: (...pointers: number[]) => {
        for (const at of pointers) this.#view().setUint32(at, 0, true);
      },
      p: () => Date.now(),
      k: (bytes: number) => this.#grow(bytes),
      i: () => {
        // The module copies its data before it has exports.
        if (this.#meter) this.#meter.value = TURNS_PER_CHECK;
        this.owner.checkTime();
        return 0;
      },
      s: () => {
        this.owner.onHostCall();
        return 0;
      },
      h: ignore,
      g: ignore,
      t: ignore,
    };
  }

  /** Makes room for `bytes` in total. @returns 0 if none */
  #grow(bytes: number): 0 | 1 {
    const pages = Math.ceil(((bytes >>> 0) - this.#memory.buffer.byteLength) / PAGE_BYTES);
    try {
      this.#memory.grow(pages);
      return 1;
    } catch {
      this.#isMemoryFull = true;
      return 0;
    }
  }

  #allocateText(text: string): { at: number; size: number } {
    const encoded = new TextEncoder().encode(text);
    const at = this.#qjs.v(encoded.length + 1);
    if (at === 0) throw new ScriptMemoryError("out of memory");
    const bytes = new Uint8Array(this.#memory.buffer);
    bytes.set(encoded, at);
    bytes[at + encoded.length] = 0;
    return { at, size: encoded.length };
  }

  #isException(value: number): boolean {
    if (this.#tags.length === 0) this.#tags = new Uint32Array(this.#memory.buffer);
    return this.#tags[(value >>> 2) + 1] === this.#exceptionTag;
  }

  /** @throws ScriptError when the call that returned `value` threw */
  #checked(value: number): Handle {
    if (value === 0 || this.#isMemoryFull) throw new ScriptMemoryError("out of memory");
    if (this.#isException(value)) {
      const error = this.#qjs.na(this.#context, value) as Handle;
      if (this.#isMemoryFull) throw new ScriptMemoryError("out of memory");
      throw new ScriptError(error === 0 ? "unknown error" : this.#textOrUnknown(error));
    }
    return value as Handle;
  }

  /** What a script threw may itself throw when it is asked for its text. */
  #textOrUnknown(value: Handle): string {
    const at = this.#qjs.$(this.#context, value);
    return at === 0 ? "unknown error" : this.#textAt(at);
  }

  #textAt(at: number): string {
    const bytes = new Uint8Array(this.#memory.buffer);
    const text = new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
    this.#qjs.S(this.#context, at);
    return text;
  }
}

function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw asScriptError(error);
  }
}

/** A stack that is used up shows as a RangeError of this process's engine. */
function asScriptError(error: unknown): unknown {
  if (error instanceof RangeError) return new ScriptError("stack overflow");
  if (error instanceof WebAssembly.RuntimeError) return new ScriptError(error.message);
  return error;
}

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

/** Scripts that may run at once on one thread: the members of one muxTracer. */
const ENGINES_MAX = 4;

/** The engines of one thread: made on first use, used again one script after the other. */
export class ScriptEngines {
  readonly #memoryBytesMax: number;
  readonly #idle: ScriptEngine[] = [];
  #module: WebAssembly.Module | undefined;
  #count = 0;

  /** @param memoryBytesMax most memory of one script, its engine included */
  constructor(memoryBytesMax: number) {
    this.#memoryBytesMax = memoryBytesMax;
  }

  /** @throws InvalidTracerError when as many scripts as may are running on this thread */
  acquire(): ScriptEngine {
    const engine = this.#idle.pop();
    if (engine) {
      engine.quickJs.reset();
      return engine;
    }
    if (this.#count === ENGINES_MAX) {
      throw new InvalidTracerError(`more than ${ENGINES_MAX} JavaScript tracers at once`);
    }
    this.#module ??= compileQuickJs();
    const created = createEngine(this.#module, this.#memoryBytesMax);
    this.#count++;
    return created;
  }

  release(engine: ScriptEngine): void {
    // Memory of WebAssembly cannot shrink.
    if (engine.quickJs.hasGrown()) this.#count--;
    else this.#idle.push(engine);
  }
}

function createEngine(module: WebAssembly.Module, memoryBytesMax: number): ScriptEngine {
  const quickJs = new QuickJs(module, { windowSize: WINDOW.size, memoryBytesMax });
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
