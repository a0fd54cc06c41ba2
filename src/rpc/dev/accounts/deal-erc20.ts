import { address } from "../../params/codec.ts";
import { bothNames, controlMethods } from "../control-methods.ts";
import { lenientNumber } from "../lenient-number.ts";
import { type TokenModules, writeTokenWord } from "./write-token-word.ts";

/**
 * Sets the balance of an account in an ERC-20 token, in the token's smallest unit; its total supply stays.
 *
 * @throws DevControlError for a token that computes balances
 */
export const dealErc20 = controlMethods({
  names: [...bothNames("dealERC20"), "anvil_dealErc20"],
  params: { account: address, token: address, balance: lenientNumber },
  handle: ({ account, token, balance }, modules: TokenModules) =>
    writeTokenWord(
      { token, signature: "balanceOf(address)", accounts: [account] },
      balance,
      modules,
    ),
});
