import { i32 } from "../../../wasm/code.ts";
import { call, type FunctionRef } from "../../../wasm/function.ts";
import { exit } from "../../halts.ts";
import { globals, request } from "../../memory/layout.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Emitter, Emitters } from "./emitter.ts";

/**
 * CALL and CREATE leave the loop: the driver runs the other frame and comes back with the result at `sp`, where the last
 * operand was, and with `pc` after the opcode.
 */
function leaveWith(status: number, pick: (runtime: Runtime) => FunctionRef): Emitter {
  return (loop, { code, pops }) => {
    const { f, runtime, pc } = loop;
    loop.setGas(call(pick(runtime), loop.gas, loop.sp));
    loop.charged();
    if (status === exit.create) f.set(loop.gas, call(runtime.calls.takeChildGas, loop.gas));
    f.do(i32.store(request.opcode, code));
    loop.drop(pops - 1);
    f.set(pc, i32.add(pc, 1));
    loop.exit(status);
  };
}

const selfdestruct: Emitter = (loop) => {
  loop.setGas(call(loop.runtime.calls.selfdestruct, loop.gas, loop.sp));
  loop.charged();
  loop.f.do(i32.store(globals.outputSize, 0));
  loop.exit(exit.selfDestruct);
};

export const SYSTEM: Emitters = {
  CALL: leaveWith(exit.call, (runtime) => runtime.calls.call),
  CALLCODE: leaveWith(exit.call, (runtime) => runtime.calls.callcode),
  DELEGATECALL: leaveWith(exit.call, (runtime) => runtime.calls.delegatecall),
  STATICCALL: leaveWith(exit.call, (runtime) => runtime.calls.staticcall),
  CREATE: leaveWith(exit.create, (runtime) => runtime.calls.create),
  CREATE2: leaveWith(exit.create, (runtime) => runtime.calls.create2),
  SELFDESTRUCT: selfdestruct,
};
