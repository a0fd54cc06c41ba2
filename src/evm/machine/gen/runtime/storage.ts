import {
  COLD_ACCOUNT_ACCESS_AMSTERDAM_GAS,
  COLD_ACCOUNT_ACCESS_GAS,
  COLD_SLOAD_GAS,
  SSTORE_CLEAR_REFUND,
  SSTORE_CLEAR_REFUND_AMSTERDAM,
  SSTORE_CLEAR_REFUND_FRONTIER,
  SSTORE_DIRTY_CONSTANTINOPLE_GAS,
  SSTORE_DIRTY_ISTANBUL_GAS,
  SSTORE_RESET_FRONTIER_GAS,
  SSTORE_RESET_GAS,
  SSTORE_SET_GAS,
  STATE_GAS,
  STORAGE_WRITE_GAS,
  WARM_ACCESS_GAS,
} from "../../../../base/params/gas.ts";
import { i32, i64, type Local, type Operand } from "../../../../base/wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import { ADDRESS_KEY, flag, frame, globals, record } from "../../memory/layout.ts";
import type { Rules } from "../../rules.ts";
import { copyWord, equalWords, isZeroWord, limb } from "../words.ts";
import type { GasFunctions } from "./gas.ts";
import type { Imports } from "./imports.ts";
import type { Journal } from "./journal.ts";
import type { StateGasFunctions } from "./state-gas.ts";

export type AccessFunctions = {
  /** account(word): the record of the account whose address is in the low 160 bits */
  readonly account: FunctionRef;
  /** touchAccount(gas, record), touchSlot(gas, record): charge for the access and make it warm */
  readonly touchAccount: FunctionRef;
  /** accountGas(gas, record): charges as touchAccount does and changes nothing: `reach` follows where the opcode can be paid (EIP-7928) */
  readonly accountGas: FunctionRef;
  /** reach(record): makes it warm and tells that it is looked at */
  readonly reach: FunctionRef;
  readonly touchSlot: FunctionRef;
  /** As touchAccount, but a warm account costs nothing: SELFDESTRUCT */
  readonly touchBeneficiary: FunctionRef;
  /** As touchSlot, but a warm slot costs nothing before Amsterdam: SSTORE, which charges it by its own rule */
  readonly touchWrittenSlot: FunctionRef;
};

export function defineAccess(
  module: ModuleBuilder,
  { eip2929, eip8037 }: Rules,
  imports: Imports,
  gas: GasFunctions,
  journal: Journal,
): AccessFunctions {
  const coldAccount = eip8037 ? COLD_ACCOUNT_ACCESS_AMSTERDAM_GAS : COLD_ACCOUNT_ACCESS_GAS;

  const account = module.define(["i32"], ["i32"], (f, word) => {
    f.do(
      i64.store(ADDRESS_KEY, limb(word!, 0)),
      i64.store(ADDRESS_KEY, limb(word!, 1), 8),
      i64.store(ADDRESS_KEY, i64.load32(word!, 16), 16),
      i64.store(ADDRESS_KEY, 0n, 24),
    );
    f.return(call(journal.find, 0, ADDRESS_KEY));
  });

  const settled = flag.accessed | (eip2929 ? flag.warm : 0);
  const touch = (warmCost: bigint, coldCost: bigint) =>
    module.define(["i64", "i32"], ["i64"], (f, gasLeft, entry) => {
      const flags = f.i32(i32.load(entry!, record.flags));
      f.if(i32.eq(i32.and(flags, settled), settled), () => {
        f.return(eip2929 && warmCost > 0n ? call(gas.charge, gasLeft!, warmCost) : i64.of(gasLeft!));
      });
      if (eip2929) {
        f.if(
          i32.and(flags, flag.warm),
          () => {
            if (warmCost > 0n) f.set(gasLeft!, call(gas.charge, gasLeft!, warmCost));
          },
          () => {
            f.set(gasLeft!, call(gas.charge, gasLeft!, coldCost));
          },
        );
        f.if(i64.ltS(gasLeft!, 0n), () => f.return(i64.of(gasLeft!)));
      }
      f.do(call(journal.mark, entry!, settled));
      f.do(call(imports.access, entry!));
      f.return(i64.of(gasLeft!));
    });

  const accountGas = module.define(["i64", "i32"], ["i64"], (f, gasLeft, entry) => {
    const isWarm = i32.and(i32.load(entry!, record.flags), flag.warm);
    f.return(call(gas.charge, gasLeft!, i64.select(isWarm, WARM_ACCESS_GAS, coldAccount)));
  });

  const reach = module.define(["i32"], [], (f, entry) => {
    f.if(i32.ne(i32.and(i32.load(entry!, record.flags), settled), settled), () => {
      f.do(call(journal.mark, entry!, settled));
      f.do(call(imports.access, entry!));
    });
  });

  return {
    account,
    touchAccount: touch(WARM_ACCESS_GAS, coldAccount),
    accountGas,
    reach,
    touchSlot: touch(WARM_ACCESS_GAS, COLD_SLOAD_GAS),
    touchBeneficiary: touch(0n, coldAccount),
    touchWrittenSlot: touch(eip8037 ? WARM_ACCESS_GAS : 0n, COLD_SLOAD_GAS),
  };
}

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
  runtime: { readonly gas: GasFunctions; readonly stateGas: StateGasFunctions; readonly journal: Journal },
): StorageFunctions {
  const { gas, journal } = runtime;
  const costs = sstoreCosts(rules);

  const refund = (f: FunctionBuilder, amount: bigint) =>
    f.do(i64.store(globals.refund, i64.add(i64.load(globals.refund), amount)));

  const sstoreGas = module.define(["i64", "i32", "i32"], ["i64"], (f, gasLeft, slot, value) => {
    if (rules.eip8037) {
      emitSstoreGasOfEip8037(f, [gasLeft!, slot!, value!], runtime);
      return;
    }
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
    const equals = (offset: number, other: Operand, otherOffset = 0) => equalWords(slot!, other, offset, otherOffset);
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

/**
 * EIP-8037 and EIP-8038: the access is paid. The first change of a slot costs a write, and state gas where the slot is new; what goes back to
 * the original value gives both back.
 */
function emitSstoreGasOfEip8037(
  f: FunctionBuilder,
  [gasLeft, slot, value]: readonly [Local, Local, Local],
  { gas, stateGas }: { readonly gas: GasFunctions; readonly stateGas: StateGasFunctions },
): void {
  const refund = (amount: bigint) => f.do(i64.store(globals.refund, i64.add(i64.load(globals.refund), amount)));
  const originalIsZero = isZeroWord(slot, record.original);
  f.if(equalWords(slot, value, record.value), () => f.return(i64.of(gasLeft)));
  f.if(equalWords(slot, slot, record.original, record.value), () => {
    f.set(gasLeft, call(gas.charge, gasLeft, STORAGE_WRITE_GAS));
    f.if(i64.ltS(gasLeft, 0n), () => f.return(i64.of(gasLeft)));
    f.if(originalIsZero, () => f.return(call(stateGas.charge, gasLeft, STATE_GAS.slot)));
    f.if(isZeroWord(value), () => refund(SSTORE_CLEAR_REFUND_AMSTERDAM));
    f.return(i64.of(gasLeft));
  });
  f.if(i32.eqz(originalIsZero), () =>
    f.if(
      isZeroWord(slot, record.value),
      () => refund(-SSTORE_CLEAR_REFUND_AMSTERDAM),
      () => f.if(isZeroWord(value), () => refund(SSTORE_CLEAR_REFUND_AMSTERDAM)),
    ),
  );
  f.if(equalWords(slot, value, record.original), () => {
    refund(STORAGE_WRITE_GAS);
    f.if(originalIsZero, () => f.set(gasLeft, call(stateGas.refill, gasLeft, STATE_GAS.slot)));
  });
  f.return(i64.of(gasLeft));
}

/** The record of the running account's slot whose number is stored at `key`. */
export function slotRecord(journal: Journal, key: Operand, kind = 0): Operand {
  const owner = i32.load(frame.account);
  return call(journal.find, kind ? i32.or(owner, kind) : owner, key);
}
