import { COLD_ACCOUNT_ACCESS_GAS, COLD_SLOAD_GAS, WARM_ACCESS_GAS } from "../../../params/gas.ts";
import { i32, i64 } from "../../../wasm/code.ts";
import { call, type FunctionRef } from "../../../wasm/function.ts";
import type { ModuleBuilder } from "../../../wasm/module.ts";
import { ADDRESS_KEY, flag, record } from "../../memory/layout.ts";
import type { Rules } from "../../rules.ts";
import { limb } from "../words.ts";
import type { GasFunctions } from "./gas.ts";
import type { Imports } from "./imports.ts";
import type { Journal } from "./journal.ts";

export type AccessFunctions = {
  /** account(word): the record of the account whose address is in the low 160 bits */
  readonly account: FunctionRef;
  /** touchAccount(gas, record), touchSlot(gas, record): charge for the access and make it warm */
  readonly touchAccount: FunctionRef;
  readonly touchSlot: FunctionRef;
  /** As touchAccount, but a warm account costs nothing: SELFDESTRUCT */
  readonly touchBeneficiary: FunctionRef;
  /** warmUp(gas, record): what SSTORE does, which charges warm slots by its own rule */
  readonly touchWrittenSlot: FunctionRef;
};

export function defineAccess(
  module: ModuleBuilder,
  { eip2929 }: Rules,
  imports: Imports,
  gas: GasFunctions,
  journal: Journal,
): AccessFunctions {
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
        f.return(
          eip2929 && warmCost > 0n ? call(gas.charge, gasLeft!, warmCost) : i64.of(gasLeft!),
        );
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

  return {
    account,
    touchAccount: touch(WARM_ACCESS_GAS, COLD_ACCOUNT_ACCESS_GAS),
    touchSlot: touch(WARM_ACCESS_GAS, COLD_SLOAD_GAS),
    touchBeneficiary: touch(0n, COLD_ACCOUNT_ACCESS_GAS),
    touchWrittenSlot: touch(0n, COLD_SLOAD_GAS),
  };
}
