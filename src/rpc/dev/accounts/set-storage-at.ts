import { hashFromBigint } from "../../../primitives/hash.ts";
import { address, boolean } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";
import { lenientNumber } from "../lenient-number.ts";

/** Sets one storage slot of an account. */
export const setStorageAt = controlMethods({
  names: bothNames("setStorageAt", "evm_setAccountStorageAt"),
  params: { address, slot: lenientNumber, value: lenientNumber },
  result: boolean,
  /** True under every name, as in anvil. */
  async handle({ address, slot, value }, { dev }: DevModules) {
    await dev.edit([{ address, storage: new Map([[hashFromBigint(slot), value]]) }]);
    return true;
  },
});
