import { address } from "../../params/codec.ts";
import { bothNames, controlMethods } from "../control-methods.ts";
import { lenientNumber } from "../lenient-number.ts";
import { type TokenModules, writeTokenWord } from "./write-token-word.ts";

/**
 * Sets what an account may spend of another's ERC-20 tokens.
 *
 * @throws DevControlError for a token that computes allowances
 */
export const setErc20Allowance = controlMethods({
  names: [...bothNames("setERC20Allowance"), "anvil_setErc20Allowance"],
  params: { owner: address, spender: address, token: address, amount: lenientNumber },
  handle: ({ owner, spender, token, amount }, modules: TokenModules) =>
    writeTokenWord(
      { token, signature: "allowance(address,address)", accounts: [owner, spender] },
      amount,
      modules,
    ),
});
