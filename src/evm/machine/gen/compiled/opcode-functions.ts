import { i32, i64 } from "../../../../base/wasm/code.ts";
import type { FunctionBuilder, FunctionRef, Label } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import { exit } from "../../halts.ts";
import { frame } from "../../memory/layout.ts";
import type { Opcode } from "../../opcodes.ts";
import { Loop } from "../loop.ts";
import { emitOpcode } from "../opcodes/opcode-emitters.ts";
import { product } from "../runtime/long-arithmetic.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { defineShortDivision, type ShortDivision } from "../runtime/short-division.ts";
import { multiplyHigh } from "../words.ts";

/** The emitter of one opcode as the body of a function: where control would leave it, the function returns. */
class OpcodeBody extends Loop {
  override next(): void {}
  override nextSegment(): void {}
  /** How the frame ends otherwise is known to the caller, by the opcode. */
  override exit(status: number): void {
    if (status === exit.halt) this.f.br(this.leave);
    else this.f.return(i64.of(this.gas));
  }
}

/** Opcodes as functions of a module, each defined at its first use: `(sp, gas)` to the gas left, below zero when the frame halts. */
export class OpcodeFunctions {
  readonly #module: ModuleBuilder;
  readonly #runtime: Runtime;
  #multiplyHigh: FunctionRef | undefined;
  #multiply: FunctionRef | undefined;
  readonly #divisions = new Map<ShortDivision, FunctionRef>();
  readonly #functions = new Map<string, FunctionRef>();

  constructor(module: ModuleBuilder, runtime: Runtime) {
    this.#module = module;
    this.#runtime = runtime;
  }

  /** The high half of the 128-bit product of two numbers of 64 bits. */
  get multiplyHigh(): FunctionRef {
    this.#multiplyHigh ??= this.#module.define(["i64", "i64"], ["i64"], (f, a, b) => f.return(multiplyHigh(f, a!, b!)));
    return this.#multiplyHigh;
  }

  /** The product of two words, given and returned in variables. */
  get multiply(): FunctionRef {
    this.#multiply ??= this.#module.define(
      Array.from({ length: 8 }, () => "i64"),
      Array.from({ length: 4 }, () => "i64"),
      (f, ...limbs) => {
        const result = product(f, limbs.slice(0, 4), limbs.slice(4));
        f.return(...result.map((limb) => i64.of(limb)));
      },
    );
    return this.#multiply;
  }

  /** Division of a word in variables by one limb or two. */
  division(which: ShortDivision): FunctionRef {
    let ref = this.#divisions.get(which);
    if (ref === undefined) {
      ref = defineShortDivision(this.#module, which);
      this.#divisions.set(which, ref);
    }
    return ref;
  }

  functionOf(opcode: Opcode): FunctionRef {
    let ref = this.#functions.get(opcode.name);
    if (ref === undefined) {
      ref = this.#module.define(["i32", "i64"], ["i64"], (f, sp, gas) =>
        this.#emitBody(f, { sp: sp!, gas: gas! }, opcode),
      );
      this.#functions.set(opcode.name, ref);
    }
    return ref;
  }

  #emitBody(f: FunctionBuilder, { sp, gas }: Pick<Loop, "sp" | "gas">, opcode: Opcode): void {
    const registers = {
      sp,
      gas,
      pc: f.i32(0),
      memory: f.i32(i32.load(frame.memory)),
      memorySize: f.i64(i64.load32(frame.memorySize)),
      status: f.i32(exit.halt),
    };
    f.block((fail: Label) => {
      const labels = { dispatch: fail, enter: fail, leave: fail, outOfGas: fail };
      emitOpcode(new OpcodeBody(f, this.#runtime, "fast", registers, labels), opcode);
      f.return(i64.of(gas));
    });
    f.return(i64.of(-1n));
  }
}
