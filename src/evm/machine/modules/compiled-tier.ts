import type { Hardfork } from "../../../base/params/hardforks.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { exit } from "../halts.ts";
import type { Code, CodeCache } from "../memory/code-cache.ts";
import { frame, request } from "../memory/layout.ts";
import type { LinearMemory } from "../memory/linear-memory.ts";
import { createBorderedInterpreter, type HostFunctions, type Interpreter } from "./interpreters.ts";

/** Where engines get compiled contracts from. One may serve several engines. */
export interface ContractCompiler {
  /** The module of `code` under the rules of `hardfork` if there is one by now; it may be there at a later call. */
  moduleOf(hash: Hash, code: Uint8Array, hardfork: Hardfork): WebAssembly.Module | undefined;
  /** False once the module was dropped for others. */
  has(hash: Hash, hardfork: Hardfork): boolean;
  /** Modules dropped so far. When it has changed, engines let go of what `has` denies, which frees its memory. */
  readonly dropped: number;
}

export type TierOptions = {
  readonly compiler: ContractCompiler;
  /** Gas per byte of code that a contract uses in the interpreter before its module is requested. */
  readonly hotGasPerByte: number;
  /** Changes between both tiers at every border of a block; the compiler's modules must leave there too. For tests. */
  readonly alternates?: boolean;
};

/** Heat between two questions for a module that is not there yet, gas. */
const ASK_AGAIN_GAS = 1_000_000;
/** What entering a frame counts for besides the gas it uses. */
const ENTRY_HEAT = 100;

/** Runs frames of one engine compiled where their code is hot, and counts what makes it so where it is not. */
export class CompiledTier {
  readonly #hardfork: Hardfork;
  readonly #memory: LinearMemory;
  readonly #codes: CodeCache;
  readonly #interpreter: Interpreter;
  /** The interpreter that goes on where a compiled contract leaves */
  readonly #partner: Interpreter;
  readonly #options: TierOptions;
  /** What modules import: the functions of the interpreter and its memory */
  readonly #imports: WebAssembly.Imports;
  /** Codes with an instance of their module */
  readonly #compiled = new Set<Code>();
  #dropped = 0;

  constructor(
    hardfork: Hardfork,
    memory: LinearMemory,
    codes: CodeCache,
    interpreter: Interpreter,
    host: HostFunctions,
    options: TierOptions,
  ) {
    this.#hardfork = hardfork;
    this.#memory = memory;
    this.#codes = codes;
    this.#options = options;
    this.#imports = { host: { ...interpreter, memory: memory.memory } };
    this.#interpreter = interpreter;
    this.#partner = options.alternates ? createBorderedInterpreter(hardfork, memory.memory, host) : interpreter;
  }

  /** As `Interpreter.run`, for a frame that runs `code`. */
  run(code: Code): number {
    if (this.#options.compiler.dropped !== this.#dropped) this.#dropInstances();
    const compiled = code.run ?? this.#prepare(code);
    if (compiled === undefined) return this.#interpret(code);
    this.#memory.set32(frame.blocks, code.blocks);
    for (;;) {
      let status = compiled();
      if (status !== exit.border) return status;
      status = this.#partner.run();
      if (status !== exit.border) return status;
    }
  }

  #prepare(code: Code): (() => number) | undefined {
    if (code.askAt === 0) code.askAt = code.bytes.length * this.#options.hotGasPerByte;
    if (code.heat < code.askAt) return undefined;
    code.askAt += ASK_AGAIN_GAS;
    const module = this.#options.compiler.moduleOf(code.hash, code.bytes, this.#hardfork);
    if (module === undefined) return undefined;
    if (code.blocks === 0 && !this.#codes.placeBlocks(code)) return undefined;
    const { exports } = new WebAssembly.Instance(module, this.#imports);
    code.run = exports["run"] as () => number;
    this.#compiled.add(code);
    return code.run;
  }

  #dropInstances(): void {
    const { compiler } = this.#options;
    this.#dropped = compiler.dropped;
    for (const code of this.#compiled) {
      if (this.#codes.holds(code) && compiler.has(code.hash, this.#hardfork)) continue;
      code.run = undefined;
      this.#compiled.delete(code);
    }
  }

  #interpret(code: Code): number {
    const before = this.#gas(frame.gas);
    const status = this.#interpreter.run();
    this.#memory.refresh();
    const lent = status === exit.call || status === exit.create ? this.#gas(request.gas) : 0;
    code.heat += before - this.#gas(frame.gas) - lent + ENTRY_HEAT;
    return status;
  }

  /** The gas at `address`, as near as a number comes; 0 where it could not pay. */
  #gas(address: number): number {
    const memory = this.#memory;
    const high = memory.get32(address + 4) | 0;
    return high < 0 ? 0 : memory.get32(address) + high * 2 ** 32;
  }
}
