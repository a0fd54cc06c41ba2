import { CALL_GAS_RESERVE_SHIFT, STATE_GAS } from "../../../../base/params/gas.ts";
import { type Code, i32, i64, type Local, v128 } from "../../../../base/wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import { frameOutcome } from "../../halts.ts";
import { frame, globals, record, request, WORD } from "../../memory/layout.ts";
import { CALL, CREATE, CREATE2, DELEGATECALL, STATICCALL } from "../../opcodes.ts";
import { copyWord, isZeroWord, storeSmall } from "../words.ts";
import type { Runtime } from "./runtime.ts";
import { refillFrame, takeOverStateGas } from "./state-gas.ts";

/** What the driver does with the registers of frames when one calls another. */
type FrameFunctions = {
  /** pushFrame(saved, snapshot): saves the registers at `saved`, unless it is 0, and begins a frame for `request` */
  readonly pushFrame: FunctionRef;
  /** beginCall(saved, snapshot): as `pushFrame`, with input, value, caller and account of the message call in `request` */
  readonly beginCall: FunctionRef;
  /** popFrame(saved, outcome, output, outputSize): restores the registers at `saved` and passes them the result of the frame above */
  readonly popFrame: FunctionRef;
  /** endRequest(outcome, output, outputSize): passes the running frame the result of a `request` that had no frame */
  readonly endRequest: FunctionRef;
  /** leaveFrame(outcome): what the running frame gives back of both gases (EIP-8037) */
  readonly leaveFrame: FunctionRef;
  /** chargeFrame(execution, state): takes both, in this order, off the gas of the running frame; 0 where it is not there (EIP-8037) */
  readonly chargeFrame: FunctionRef;
  /** forwardGas(): gives `request` all the running frame may give away (EIP-150) */
  readonly forwardGas: FunctionRef;
};

type FrameRuntime = Pick<Runtime, "rules" | "copies" | "journal" | "gas" | "stateGas">;

export function defineFrames(module: ModuleBuilder, runtime: FrameRuntime): FrameFunctions {
  const { eip8037 } = runtime.rules;
  const pushFrame = module.define(["i32", "i32"], [], (f, saved, snapshot) => {
    const floor = f.i32(i32.and(i32.add(memoryEnd(), WORD - 1), -WORD));
    f.if(saved!, () => copyRegisters(f, saved!, frame.begin));
    f.do(
      i32.store(frame.stackBase, i32.load(frame.sp)),
      i32.store(frame.memory, floor),
      i32.store(frame.memorySize, 0),
      i64.store(frame.gas, i64.load(request.gas)),
      i32.store(frame.snapshot, snapshot!),
      i64.store(frame.refund, i64.load(globals.refund)),
      i32.store(frame.returnDataSize, 0),
      i32.store(frame.outputTarget, i32.load(request.output)),
      i32.store(frame.outputTargetSize, i32.load(request.outputSize)),
      i32.store(frame.kind, i32.load(request.opcode)),
    );
    if (!eip8037) return;
    f.do(
      i64.store(frame.spilled, 0n),
      i64.store(frame.reservoir, i64.load(globals.reservoir)),
      i32.store(frame.accountPaid, i32.load(request.accountPaid)),
    );
  });

  const beginCall = module.define(["i32", "i32"], [], (f, saved, snapshot) => {
    const kind = f.i32(i32.load(request.opcode));
    const account = f.i32(i32.load(frame.account));
    f.do(call(pushFrame, saved!, snapshot!));
    f.do(i32.store(frame.input, i32.load(request.input)));
    f.do(i32.store(frame.inputSize, i32.load(request.inputSize)));
    copyWord(f, frame.value, request.value);
    f.if(i32.ne(kind, DELEGATECALL), () => copyWord(f, frame.caller, account, 0, record.key));
    f.if(isOneOf(kind, CALL, STATICCALL), () => f.do(i32.store(frame.account, i32.load(request.target))));
    f.if(i32.eq(kind, STATICCALL), () => f.do(i32.store(frame.isStatic, 1)));
  });

  const passResult = definePassResult(module, runtime);

  const popFrame = module.define(["i32", "i32", "i32", "i32"], [], (f, saved, outcome, output, outputSize) => {
    const kind = f.i32(i32.load(frame.kind));
    const account = f.i32(i32.load(frame.account));
    const target = f.i32(i32.load(frame.outputTarget));
    const targetSize = f.i32(i32.load(frame.outputTargetSize));
    const accountPaid = f.i32(eip8037 ? paidAccount(kind, frame.accountPaid, frame.value) : 0);
    copyRegisters(f, frame.begin, saved!);
    f.do(call(passResult, kind, account, target, targetSize, outcome!, output!, outputSize!, accountPaid));
  });

  const endRequest = module.define(["i32", "i32", "i32"], [], (f, outcome, output, outputSize) => {
    const { opcode, target, output: to, outputSize: toSize } = request;
    const kind = f.i32(i32.load(opcode));
    const account = i32.load(target);
    const [begin, size] = [i32.load(to), i32.load(toSize)];
    const accountPaid = f.i32(eip8037 ? paidAccount(kind, request.accountPaid, request.value) : 0);
    if (eip8037) f.do(i64.store(globals.spilledBack, 0n));
    f.do(call(passResult, kind, account, begin, size, outcome!, output!, outputSize!, accountPaid));
  });

  const leaveFrame = module.define(["i32"], [], (f, outcome) => {
    const isHalt = f.i32(i32.eq(outcome!, frameOutcome.halt));
    f.do(i64.store(globals.gasBack, i64.select(isHalt, 0n, i64.load(frame.gas))));
    f.do(i64.store(globals.spilledBack, i64.load(frame.spilled)));
    f.if(i32.ne(outcome!, frameOutcome.success), () => {
      f.if(i32.eqz(isHalt), () =>
        f.do(i64.store(globals.gasBack, i64.add(i64.load(frame.gas), i64.load(frame.spilled)))),
      );
      f.do(i64.store(globals.spilledBack, 0n), i64.store(globals.reservoir, i64.load(frame.reservoir)));
    });
  });

  const chargeFrame = module.define(["i32", "i32"], ["i32"], (f, execution, state) => {
    // The register has all gas of a frame that does not run: what is left in reserve is in it, and must not be lent again.
    f.do(i64.store(globals.reserve, 0n));
    const gas = f.i64(i64.sub(i64.load(frame.gas), i64.extendU(execution!)));
    f.if(i64.ltS(gas, 0n), () => f.return(i32.of(0)));
    f.set(gas, call(runtime.stateGas.charge, gas, i64.extendU(state!)));
    f.if(i64.ltS(gas, 0n), () => f.return(i32.of(0)));
    f.do(i64.store(frame.gas, gas));
    f.return(i32.of(1));
  });

  const forwardGas = module.define([], [], (f) => {
    const gas = f.i64(i64.load(frame.gas));
    const kept = f.i64(i64.shrU(gas, CALL_GAS_RESERVE_SHIFT));
    f.do(i64.store(request.gas, i64.sub(gas, kept)), i64.store(frame.gas, kept));
  });

  return { pushFrame, beginCall, popFrame, endRequest, leaveFrame, chargeFrame, forwardGas };
}

/** Whether the caller may have paid for the account that it called or created (EIP-8037). */
function paidAccount(kind: Local, accountPaid: number, value: number): Code {
  return i32.or(
    i32.and(isOneOf(kind, CREATE, CREATE2), i32.load(accountPaid)),
    i32.and(i32.eq(kind, CALL), i32.eqz(isZeroWord(value))),
  );
}

/**
 * passResult(kind, account, target, targetSize, outcome, output, outputSize, accountPaid): gives the running frame gas, return data,
 * output and result word of the call or creation it made, and what it paid for an account that there is not after all.
 */
function definePassResult(module: ModuleBuilder, { rules, copies, journal, stateGas }: FrameRuntime): FunctionRef {
  const { copy } = copies;
  return module.define(
    Array.from({ length: 8 }, () => "i32"),
    [],
    (f, kind, created, target, targetSize_, outcome, output, size_, accountPaid) => {
      const [targetSize, size] = [targetSize_!, size_!];
      f.do(i64.store(frame.gas, i64.add(i64.load(frame.gas), i64.load(globals.gasBack))));
      const isCreation = f.i32(isOneOf(kind!, CREATE, CREATE2));
      if (rules.eip8037) {
        takeOverStateGas(f);
        f.if(i32.and(accountPaid!, i32.ne(outcome!, frameOutcome.success)), () =>
          f.if(i32.or(isCreation, call(journal.isEmpty, created!)), () => refillFrame(f, stateGas, STATE_GAS.account)),
        );
      }
      // A creation leaves return data only when it reverts (EIP-211).
      f.if(i32.and(isCreation, i32.ne(outcome!, frameOutcome.revert)), () => f.set(size, 0));
      f.do(i32.store(frame.returnDataSize, size));
      f.if(size, () => {
        const returnData = f.i32(memoryEnd());
        f.do(call(copy, returnData, output!, size), i32.store(frame.returnData, returnData));
        const copied = f.i32(i32.select(i32.ltU(size, targetSize), size, targetSize));
        f.if(copied, () => f.do(call(copy, target!, returnData, copied)));
      });
      const result = f.i32(i32.load(frame.sp));
      const isSuccess = f.i32(i32.eq(outcome!, frameOutcome.success));
      f.if(
        i32.and(isSuccess, isCreation),
        () => copyWord(f, result, created!, 0, record.key),
        () => storeSmall(f, result, i64.extendU(isSuccess)),
      );
    },
  );
}

/** Where the memory of the running frame ends. */
function memoryEnd(): Code {
  return i32.add(i32.load(frame.memory), i32.load(frame.memorySize));
}

function isOneOf(kind: Local, a: number, b: number): Code {
  return i32.or(i32.eq(kind, a), i32.eq(kind, b));
}

function copyRegisters(f: FunctionBuilder, to: Local | number, from: Local | number): void {
  for (let at = 0; at < frame.size; at += 16) f.do(v128.store(to, v128.load(from, at), at));
}
