import {
  ACCOUNT_WRITE_GAS,
  CALL_GAS_RESERVE_SHIFT,
  CALL_STIPEND,
  CALL_VALUE_AMSTERDAM_GAS,
  CALL_VALUE_GAS,
  INIT_CODE_WORD_GAS,
  KECCAK_WORD_GAS,
  NEW_ACCOUNT_GAS,
  SELFDESTRUCT_REFUND,
  STATE_GAS,
  WARM_ACCESS_GAS,
} from "../../../../base/params/gas.ts";
import { i32, i64, type Local, type Operand } from "../../../../base/wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import { haltCode } from "../../halts.ts";
import { flag, frame, globals, record, request, WORD } from "../../memory/layout.ts";
import type { Rules } from "../../rules.ts";
import { copyWord, isSmall, isZeroWord, limb, storeZero } from "../words.ts";
import { type GasFunctions, MEMORY_SIZE_MAX } from "./gas.ts";
import type { Imports } from "./imports.ts";
import type { Journal } from "./journal.ts";
import type { StateGasFunctions } from "./state-gas.ts";
import type { AccessFunctions } from "./storage.ts";

/** Each takes (gas, sp), fills `request` and answers the gas left to the caller; below zero: it halts. */
export type CallFunctions = {
  readonly call: FunctionRef;
  readonly callcode: FunctionRef;
  readonly delegatecall: FunctionRef;
  readonly staticcall: FunctionRef;
  readonly create: FunctionRef;
  readonly create2: FunctionRef;
  readonly selfdestruct: FunctionRef;
  /** takeChildGas(gas): all a creation may use goes to the request; before Amsterdam */
  readonly takeChildGas: FunctionRef;
};

/** One function, because those it defines refer to each other by what `module.define` returns. */
export function defineCalls(
  module: ModuleBuilder,
  rules: Rules,
  {
    imports,
    gas,
    stateGas,
    journal,
    access,
  }: {
    readonly imports: Imports;
    readonly gas: GasFunctions;
    readonly stateGas: StateGasFunctions;
    readonly journal: Journal;
    readonly access: AccessFunctions;
  },
): CallFunctions {
  const callValueGas = rules.eip8037 ? CALL_VALUE_AMSTERDAM_GAS : CALL_VALUE_GAS;
  const failWith = (f: FunctionBuilder, code: number) => {
    f.do(i32.store(globals.halt, code));
    f.return(i64.of(-1n));
  };
  const returnIfOut = (f: FunctionBuilder, gasLeft: Local) =>
    f.if(i64.ltS(gasLeft, 0n), () => f.return(i64.of(gasLeft)));

  /** The gas for an access is not there, which geth words in its own way; a deadline that passed stays the reason. */
  const outInAccess = (f: FunctionBuilder) =>
    f.if(i32.eqz(i32.load(globals.halt)), () => f.do(i32.store(globals.halt, haltCode.outOfGasInAccess)));

  /** What is lent out in slices comes together before it is divided. */
  const takeReserve = (f: FunctionBuilder, gasLeft: Local) => {
    f.set(gasLeft, i64.add(gasLeft, i64.load(globals.reserve)));
    f.do(i64.store(globals.reserve, 0n));
  };

  const requestRange = (f: FunctionBuilder, offset: number, size: number, begin: number, length: number) => {
    // An empty range may have any offset, so its address means nothing.
    f.do(i32.store(begin, i32.add(i32.load(frame.memory), i64Low(offset))), i32.store(length, i64Low(size)));
    function i64Low(at: number) {
      return i32.load(f.params[1]!, at);
    }
  };

  /** What geth's gas function charges itself: everything from Prague on, before it the value and memory of CALL. */
  const returnIfOutOfCall = (f: FunctionBuilder, gasLeft: Local, isChargedInside = rules.eip7702) =>
    f.if(i64.ltS(gasLeft, 0n), () => {
      if (isChargedInside) outInAccess(f);
      f.return(i64.of(gasLeft));
    });

  const defineCall = (name: "call" | "callcode" | "delegatecall" | "staticcall"): FunctionRef =>
    module.define(["i64", "i32"], ["i64"], (f, gasLeft_, sp_) => {
      const gasLeft = gasLeft_!;
      const sp = sp_!;
      const hasValue = name === "call" || name === "callcode";
      const input = hasValue ? 3 * WORD : 2 * WORD;
      const output = input + 2 * WORD;

      const end = f.i64(call(gas.rangeEnd, i32.add(sp, input), i32.add(sp, input + WORD)));
      const outputEnd = f.i64(call(gas.rangeEnd, i32.add(sp, output), i32.add(sp, output + WORD)));
      f.set(end, i64.select(i64.ltU(end, outputEnd), outputEnd, end));
      const before = f.i64(i64.add(gasLeft, i64.load(globals.reserve)));
      f.if(i64.eq(end, -1n), () => {
        // As in geth the price of a warm access, which is static, comes first.
        if (rules.eip2929) f.if(i64.ltU(before, WARM_ACCESS_GAS), () => f.return(i64.of(-1n)));
        failWith(f, haltCode.gasUintOverflow);
      });

      const transfers = f.i32(hasValue ? i32.eqz(isZeroWord(sp, 2 * WORD)) : 0);
      if (name === "call") {
        // As in geth after the price of a warm access, which is static, and before that of a cold one.
        const isForbidden = i32.and(transfers, i32.load(frame.isStatic));
        f.if(rules.eip2929 ? i32.and(isForbidden, i64.geU(before, WARM_ACCESS_GAS)) : isForbidden, () =>
          failWith(f, haltCode.outOfGasWriteProtection),
        );
      }
      const target = f.i32(call(access.account, i32.add(sp, WORD)));
      f.set(gasLeft, call(rules.eip8037 ? access.accountGas : access.touchAccount, gasLeft, target));
      f.if(i64.ltS(gasLeft, 0n), () => {
        if (rules.eip2929) f.if(i64.geU(before, WARM_ACCESS_GAS), () => outInAccess(f));
        f.return(i64.of(gasLeft));
      });
      f.if(transfers, () => {
        f.set(gasLeft, call(gas.charge, gasLeft, callValueGas));
        returnIfOutOfCall(f, gasLeft, rules.eip7702 || name === "call");
      });
      f.set(gasLeft, call(gas.expand, gasLeft, end));
      returnIfOutOfCall(f, gasLeft, rules.eip7702 || name === "call");
      // What depends on no state is paid before the target is looked at (EIP-7928).
      if (rules.eip8037) f.do(call(access.reach, target));
      const codeAccount = f.i32(target);
      if (rules.eip7702) {
        f.if(i32.and(i32.load(target, record.flags), flag.delegated), () => {
          f.set(codeAccount, call(imports.delegate, target));
          f.set(gasLeft, call(access.touchAccount, gasLeft, codeAccount));
          f.if(i64.ltS(gasLeft, 0n), () => {
            outInAccess(f);
            f.return(i64.of(gasLeft));
          });
        });
      }
      if (name === "call" && rules.eip8037) {
        f.if(i32.and(transfers, call(journal.isEmpty, target)), () => {
          f.set(gasLeft, call(stateGas.charge, gasLeft, STATE_GAS.account));
          returnIfOutOfCall(f, gasLeft);
        });
      } else if (name === "call") {
        const isNew = rules.eip158
          ? i32.and(transfers, call(journal.isEmpty, target))
          : i32.eqz(i32.and(i32.load(target, record.flags), flag.exists));
        f.if(isNew, () => {
          f.set(gasLeft, call(gas.charge, gasLeft, NEW_ACCOUNT_GAS));
          returnIfOutOfCall(f, gasLeft);
        });
      }

      takeReserve(f, gasLeft);
      const child = f.i64(0n);
      if (rules.eip150) {
        f.set(child, i64.sub(gasLeft, i64.shrU(gasLeft, CALL_GAS_RESERVE_SHIFT)));
        f.if(i32.and(isSmall(sp), i64.ltU(limb(sp, 0), child)), () => f.set(child, limb(sp, 0)));
      } else {
        f.if(i32.eqz(isSmall(sp)), () => failWith(f, haltCode.outOfGasOverflow));
        f.set(child, limb(sp, 0));
        f.if(i64.gtU(child, gasLeft), () => f.return(i64.of(-1n)));
      }
      f.set(gasLeft, i64.sub(gasLeft, child));
      f.if(transfers, () => f.set(child, i64.add(child, CALL_STIPEND)));

      f.do(
        i64.store(request.gas, child),
        i32.store(request.target, target),
        i32.store(request.codeAccount, codeAccount),
      );
      requestRange(f, input, input + WORD, request.input, request.inputSize);
      requestRange(f, output, output + WORD, request.output, request.outputSize);
      if (hasValue) copyWord(f, request.value, sp, 0, 2 * WORD);
      else if (name === "delegatecall") copyWord(f, request.value, frame.value);
      else storeZero(f, request.value);
      f.return(i64.of(gasLeft));
    });

  const defineCreate = (isCreate2: boolean): FunctionRef =>
    module.define(["i64", "i32"], ["i64"], (f, gasLeft_, sp_) => {
      const gasLeft = gasLeft_!;
      const sp = sp_!;
      const size = 2 * WORD;
      const end = f.i64(call(gas.rangeEnd, i32.add(sp, WORD), i32.add(sp, size)));
      f.if(i64.eq(end, -1n), () => failWith(f, haltCode.gasUintOverflow));
      f.if(i32.load(frame.isStatic), () => failWith(f, haltCode.outOfGasWriteProtection));
      if (rules.eip3860) {
        // geth computes the gas for memory before it looks at the size.
        f.if(i64.gtU(end, MEMORY_SIZE_MAX), () => failWith(f, haltCode.outOfGasOverflow));
        f.if(i64.gtU(limb(sp, 0, size), i64.extendU(i32.load(globals.initCodeSizeMax))), () => {
          f.do(i32.store(globals.haltDetail, i32.wrap(limb(sp, 0, size))));
          failWith(f, haltCode.outOfGasInitCodeSize);
        });
      }
      f.set(gasLeft, call(gas.expand, gasLeft, end));
      returnIfOut(f, gasLeft);
      const wordGas = (rules.eip3860 ? INIT_CODE_WORD_GAS : 0n) + (isCreate2 ? KECCAK_WORD_GAS : 0n);
      if (wordGas > 0n) {
        const words = i64.shrU(i64.add(limb(sp, 0, size), 31n), 5n);
        f.set(gasLeft, call(gas.charge, gasLeft, i64.mul(words, wordGas)));
        returnIfOut(f, gasLeft);
      }
      // The driver sets it once the address is known.
      if (rules.eip8037) f.do(i64.store(request.gas, 0n));
      copyWord(f, request.value, sp);
      if (isCreate2) copyWord(f, request.salt, sp, 0, 3 * WORD);
      requestRange(f, WORD, size, request.input, request.inputSize);
      f.return(i64.of(gasLeft));
    });

  const takeChildGas = module.define(["i64"], ["i64"], (f, gasLeft_) => {
    const gasLeft = gasLeft_!;
    takeReserve(f, gasLeft);
    const child = f.i64(rules.eip150 ? i64.sub(gasLeft, i64.shrU(gasLeft, CALL_GAS_RESERVE_SHIFT)) : i64.of(gasLeft));
    f.do(i64.store(request.gas, child));
    f.return(i64.sub(gasLeft, child));
  });

  const selfdestruct = module.define(["i64", "i32"], ["i64"], (f, gasLeft_, sp) => {
    const gasLeft = gasLeft_!;
    f.if(i32.load(frame.isStatic), () => failWith(f, haltCode.outOfGasWriteProtection));
    const target = f.i32(call(access.account, sp!));
    f.do(i32.store(request.target, target));
    f.set(gasLeft, call(access.touchBeneficiary, gasLeft, target));
    f.if(i64.ltS(gasLeft, 0n), () => {
      outInAccess(f);
      f.return(i64.of(gasLeft));
    });
    const account = f.i32(i32.load(frame.account));
    if (rules.eip8037) {
      f.if(i32.and(call(journal.isEmpty, target), i32.eqz(isZeroWord(account, record.value))), () => {
        f.set(gasLeft, call(gas.charge, gasLeft, ACCOUNT_WRITE_GAS));
        returnIfOut(f, gasLeft);
        f.set(gasLeft, call(stateGas.charge, gasLeft, STATE_GAS.account));
        returnIfOut(f, gasLeft);
      });
    } else if (rules.eip150) {
      const isNew: Operand = rules.eip158
        ? i32.and(call(journal.isEmpty, target), i32.eqz(isZeroWord(account, record.value)))
        : i32.eqz(i32.and(i32.load(target, record.flags), flag.exists));
      f.if(isNew, () => {
        f.set(gasLeft, call(gas.charge, gasLeft, NEW_ACCOUNT_GAS));
        returnIfOut(f, gasLeft);
      });
    }
    if (!rules.eip3529) {
      f.if(i32.eqz(i32.and(i32.load(account, record.flags), flag.selfDestructed)), () =>
        f.do(i64.store(globals.refund, i64.add(i64.load(globals.refund), SELFDESTRUCT_REFUND))),
      );
    }
    f.return(i64.of(gasLeft));
  });

  return {
    call: defineCall("call"),
    callcode: defineCall("callcode"),
    delegatecall: defineCall("delegatecall"),
    staticcall: defineCall("staticcall"),
    create: defineCreate(false),
    create2: defineCreate(true),
    selfdestruct,
    takeChildGas,
  };
}
