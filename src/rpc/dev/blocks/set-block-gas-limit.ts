import { boolean } from "../../params/codec.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";
import { lenientNumber } from "../lenient-number.ts";

/** Sets the gas limit of the next and all later blocks; true. */
export const setBlockGasLimit = controlMethods({
  names: ["evm_setBlockGasLimit", "anvil_setBlockGasLimit", "hardhat_setBlockGasLimit"],
  params: { gasLimit: lenientNumber },
  result: boolean,
  async handle({ gasLimit }, { dev }: DevModules) {
    await dev.configure({ gasLimit });
    return true;
  },
});
