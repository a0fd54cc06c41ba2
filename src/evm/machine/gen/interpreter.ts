import { i32, i64, type Local } from "../../../base/wasm/code.ts";
import { call, type FunctionBuilder, type Label } from "../../../base/wasm/function.ts";
import { ModuleBuilder } from "../../../base/wasm/module.ts";
import { exit, haltCode } from "../halts.ts";
import { frame, globals } from "../memory/layout.ts";
import { opcodesOf } from "../opcodes.ts";
import type { Rules } from "../rules.ts";
import { exportRuntime } from "./compiled/runtime-links.ts";
import { type Build, Loop, takeSlice } from "./loop.ts";
import { emitOpcode } from "./opcodes/opcode-emitters.ts";
import { defineFrames } from "./runtime/frames.ts";
import { defineRuntime, type Runtime } from "./runtime/runtime.ts";

type InterpreterOptions = {
  /** It also leaves at every JUMPDEST, with `exit.border`: for tests that change tiers there. */
  readonly leavesAtBorders?: boolean;
};

/**
 * The interpreter of one fork as a WebAssembly module. `run()` goes on with the frame whose registers are in linear
 * memory until it ends, halts or calls, and answers how (`exit`); gas is below 2^63.
 */
export function emitInterpreter(
  rules: Rules,
  build: Build,
  seed: readonly [bigint, bigint, bigint, bigint],
  { leavesAtBorders = false }: InterpreterOptions = {},
): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  const runtime = defineRuntime(module, rules, seed);
  const run = module.define([], ["i32"], (f) => emitRun(f, runtime, build, leavesAtBorders));
  const { journal } = runtime;
  module.export("run", run);
  module.export("find", journal.find);
  module.export("save", journal.save);
  module.export("mark", journal.mark);
  module.export("revert", journal.revert);
  module.export("addBalance", journal.addBalance);
  module.export("subBalance", journal.subBalance);
  module.export("hasBalance", journal.hasBalance);
  module.export("hasRoom", journal.hasRoom);
  module.export("isEmpty", journal.isEmpty);
  module.export("reach", runtime.access.reach);
  module.export("keccak", runtime.keccak);
  const frames = defineFrames(module, runtime);
  for (const [name, ref] of Object.entries(frames)) module.export(name, ref);
  if (build === "fast") exportRuntime(module, runtime);
  return module.bytes();
}

function emitRun(f: FunctionBuilder, runtime: Runtime, build: Build, leavesAtBorders: boolean): void {
  const pc = f.i32(i32.load(frame.pc));
  const sp = f.i32(i32.load(frame.sp));
  const gas = f.i64(i64.load(frame.gas));
  const memory = f.i32(i32.load(frame.memory));
  const memorySize = f.i64(i64.load32(frame.memorySize));
  const status = f.i32(exit.halt);
  takeSlice(f, gas);

  const hasBegun = f.i32(0);
  f.block((leave) => {
    f.block((outOfGas) => {
      f.loop((enter) => {
        if (leavesAtBorders) emitBorder(f, { pc, status, leave }, hasBegun);
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

  f.do(i32.store(frame.pc, pc), i32.store(frame.sp, sp), i64.store(frame.gas, i64.add(gas, i64.load(globals.reserve))));
  f.return(i32.of(status));
}

/** Leaves before a JUMPDEST, unless `run` began there. */
function emitBorder(
  f: FunctionBuilder,
  { pc, status, leave }: Pick<Loop, "pc" | "status"> & { leave: Label },
  hasBegun: Local,
): void {
  const segment = i32.load(i32.add(i32.shl(pc, 3), i32.load(frame.segments)));
  f.if(i32.and(hasBegun, i32.ltS(segment, 0)), () => {
    f.set(status, exit.border);
    f.br(leave);
  });
  f.set(hasBegun, 1);
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
