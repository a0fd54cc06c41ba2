import { i32, i64 } from "../../wasm/code.ts";
import { call, type FunctionBuilder, type Label } from "../../wasm/function.ts";
import { ModuleBuilder } from "../../wasm/module.ts";
import { exit, haltCode } from "../halts.ts";
import { frame, globals } from "../layout.ts";
import { opcodesOf } from "../opcodes.ts";
import type { Rules } from "../rules.ts";
import { type Build, Loop } from "./loop.ts";
import { emitOpcode } from "./opcodes/opcode-emitters.ts";
import { defineRuntime, type Runtime } from "./runtime/runtime.ts";

/**
 * The interpreter of one fork as a WebAssembly module. `run()` goes on with the frame whose registers are in linear
 * memory until it ends, halts or calls, and answers how (`exit`); gas is below 2^63.
 */
export function emitInterpreter(
  rules: Rules,
  build: Build,
  seed: readonly [bigint, bigint, bigint, bigint],
): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  const runtime = defineRuntime(module, rules, seed);
  const run = module.define([], ["i32"], (f) => emitRun(f, runtime, build));
  const { journal } = runtime;
  module.export("run", run);
  module.export("find", journal.find);
  module.export("save", journal.save);
  module.export("mark", journal.mark);
  module.export("revert", journal.revert);
  module.export("addBalance", journal.addBalance);
  module.export("subBalance", journal.subBalance);
  module.export("hasBalance", journal.hasBalance);
  module.export("isEmpty", journal.isEmpty);
  module.export("keccak", runtime.keccak);
  module.export("copy", runtime.copies.copy);
  module.export("copyFrame", runtime.copies.copyFrame);
  return module.bytes();
}

function emitRun(f: FunctionBuilder, runtime: Runtime, build: Build): void {
  const pc = f.i32(i32.load(frame.pc));
  const sp = f.i32(i32.load(frame.sp));
  const gas = f.i64(i64.load(frame.gas));
  const memory = f.i32(i32.load(frame.memory));
  const memorySize = f.i64(i64.load32(frame.memorySize));
  const status = f.i32(exit.halt);
  f.do(i64.store(globals.reserve, 0n), i32.store(globals.halt, haltCode.none));
  f.if(i64.gtS(gas, i64.load(globals.slice)), () => {
    f.do(i64.store(globals.reserve, i64.sub(gas, i64.load(globals.slice))));
    f.set(gas, i64.load(globals.slice));
  });

  f.block((leave) => {
    f.block((outOfGas) => {
      f.loop((enter) => {
        if (build === "fast") emitSegmentCheck(f, runtime, { pc, sp, gas, status, leave });
        f.loop((dispatch) => {
          const registers = { pc, sp, gas, memory, memorySize, status };
          const labels = {
            dispatch,
            enter: build === "fast" ? enter : dispatch,
            leave,
            outOfGas,
          };
          emitDispatch(new Loop(f, runtime, build, registers, labels));
        });
      });
    });
    f.set(status, exit.halt);
    f.if(i32.eqz(i32.load(globals.halt)), () => f.do(i32.store(globals.halt, haltCode.outOfGas)));
  });

  f.do(
    i32.store(frame.pc, pc),
    i32.store(frame.sp, sp),
    i64.store(frame.gas, i64.add(gas, i64.load(globals.reserve))),
  );
  f.return(i32.of(status));
}

/** Charges the segment that begins at `pc` and checks the stack for all of it; then steps over its JUMPDEST. */
function emitSegmentCheck(
  f: FunctionBuilder,
  runtime: Runtime,
  { pc, sp, gas, status, leave }: Pick<Loop, "pc" | "sp" | "gas" | "status"> & { leave: Label },
): void {
  const segment = f.i32(i32.add(i32.shl(pc, 3), i32.load(frame.segments)));
  const cost = () => i64.extendU(i32.and(i32.load(segment), 0x7fffffff));
  f.set(gas, i64.sub(gas, cost()));
  f.if(i64.ltS(gas, 0n), () => {
    f.set(gas, call(runtime.gas.refillGas, gas));
    f.if(i64.ltS(gas, 0n), () => {
      f.set(gas, i64.add(gas, cost()));
      f.set(status, i32.select(i32.load(globals.halt), exit.halt, exit.checkFailed));
      f.br(leave);
    });
  });
  const height = i32.sub(i32.load(frame.stackBase), sp);
  const spare = i32.sub(height, i32.load16(segment, 4));
  f.if(i32.gtU(spare, i32.load16(segment, 6)), () => {
    f.set(gas, i64.add(gas, cost()));
    f.set(status, exit.checkFailed);
    f.br(leave);
  });
  f.set(pc, i32.add(pc, i32.eq(i32.load8(pc), 0x5b)));
}

/** One case for each of the 256 opcode numbers, nested so that breaking out of block n lands at its code. */
function emitDispatch(loop: Loop): void {
  const { f, runtime } = loop;
  const opcodes = opcodesOf(runtime.rules.hardfork);
  const undefinedOpcode = f.openBlock();
  const cases = opcodes.map((opcode) => (opcode ? f.openBlock() : undefinedOpcode));
  f.brTable(i32.load8(loop.pc), cases, undefinedOpcode);
  for (let code = 255; code >= 0; code--) {
    const opcode = opcodes[code];
    if (opcode === undefined) continue;
    f.end();
    f.scope(() => {
      loop.begin(opcode);
      emitOpcode(loop, opcode);
    });
  }
  f.end();
  loop.begin(undefined);
  loop.charged();
  f.do(i32.store(globals.haltDetail, i32.load8(loop.pc)));
  loop.halt(haltCode.invalidOpcode);
}
