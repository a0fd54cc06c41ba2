import {
  SSTORE_CLEAR_REFUND,
  SSTORE_CLEAR_REFUND_FRONTIER,
  SSTORE_DIRTY_CONSTANTINOPLE_GAS,
  SSTORE_DIRTY_ISTANBUL_GAS,
  SSTORE_RESET_FRONTIER_GAS,
  SSTORE_RESET_GAS,
  SSTORE_SET_GAS,
  WARM_ACCESS_GAS,
} from "../../../params/gas.ts";
import { i32, i64, type Operand } from "../../../wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../../wasm/function.ts";
import type { ModuleBuilder } from "../../../wasm/module.ts";
import { frame, globals, record } from "../../memory/layout.ts";
import type { Rules } from "../../rules.ts";
import { copyWord, equalWords, isZeroWord } from "../words.ts";
import type { GasFunctions } from "./gas.ts";
import type { Journal } from "./journal.ts";

export type StorageFunctions = {
  /** sstoreGas(gas, slot, value): charges a write and counts its refund; `value` is the address of a word */
  readonly sstoreGas: FunctionRef;
  /** write(slot, value) */
  readonly write: FunctionRef;
};

/** Gas and refunds of SSTORE by fork. */
function sstoreCosts({ sstore, eip2929, eip3529 }: Rules) {
  return {
    /** Nothing changes, or the slot was changed before in this transaction */
    dirty: eip2929
      ? WARM_ACCESS_GAS
      : sstore === "eip2200"
        ? SSTORE_DIRTY_ISTANBUL_GAS
        : SSTORE_DIRTY_CONSTANTINOPLE_GAS,
    reset: eip2929 ? SSTORE_RESET_GAS : SSTORE_RESET_FRONTIER_GAS,
    clearRefund: eip3529 ? SSTORE_CLEAR_REFUND : SSTORE_CLEAR_REFUND_FRONTIER,
  };
}

export function defineStorage(
  module: ModuleBuilder,
  rules: Rules,
  gas: GasFunctions,
  journal: Journal,
): StorageFunctions {
  const costs = sstoreCosts(rules);

  const refund = (f: FunctionBuilder, amount: bigint) =>
    f.do(i64.store(globals.refund, i64.add(i64.load(globals.refund), amount)));

  const sstoreGas = module.define(["i64", "i32", "i32"], ["i64"], (f, gasLeft, slot, value) => {
    const charge = (cost: bigint) => f.return(call(gas.charge, gasLeft!, cost));
    const currentIsZero = isZeroWord(slot!, record.value);
    const valueIsZero = isZeroWord(value!);
    if (rules.sstore === "frontier") {
      f.if(
        currentIsZero,
        () => f.if(i32.eqz(valueIsZero), () => charge(SSTORE_SET_GAS)),
        () => f.if(valueIsZero, () => refund(f, costs.clearRefund)),
      );
      charge(costs.reset);
      return;
    }
    const originalIsZero = isZeroWord(slot!, record.original);
    const equals = (offset: number, other: Operand, otherOffset = 0) =>
      equalWords(slot!, other, offset, otherOffset);
    f.if(equals(record.value, value!), () => charge(costs.dirty));
    f.if(equals(record.original, slot!, record.value), () => {
      f.if(originalIsZero, () => charge(SSTORE_SET_GAS));
      f.if(valueIsZero, () => refund(f, costs.clearRefund));
      charge(costs.reset);
    });
    f.if(i32.eqz(originalIsZero), () =>
      f.if(
        currentIsZero,
        () => refund(f, -costs.clearRefund),
        () => f.if(valueIsZero, () => refund(f, costs.clearRefund)),
      ),
    );
    f.if(equals(record.original, value!), () =>
      f.if(
        originalIsZero,
        () => refund(f, SSTORE_SET_GAS - costs.dirty),
        () => refund(f, costs.reset - costs.dirty),
      ),
    );
    charge(costs.dirty);
  });

  const write = module.define(["i32", "i32"], [], (f, slot, value) => {
    f.if(equalWords(slot!, value!, record.value), () => f.return());
    f.do(call(journal.save, i32.add(slot!, record.value)));
    copyWord(f, slot!, value!, record.value);
  });

  return { sstoreGas, write };
}

/** The record of the running account's slot whose number is stored at `key`. */
export function slotRecord(journal: Journal, key: Operand, kind = 0): Operand {
  const owner = i32.load(frame.account);
  return call(journal.find, kind ? i32.or(owner, kind) : owner, key);
}
