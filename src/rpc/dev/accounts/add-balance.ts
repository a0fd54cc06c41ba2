import { address } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";
import { lenientNumber } from "../lenient-number.ts";

const BALANCE_MAX = 2n ** 256n - 1n;

/** Adds wei to the balance of an account; a sum beyond 2^256 − 1 becomes that, as in anvil. */
export const addBalance = controlMethods({
  names: bothNames("addBalance", "tenderly_addBalance"),
  params: { address, amount: lenientNumber },
  async handle(
    { address, amount },
    { dev, chain }: DevModules & { readonly chain: Pick<ChainView, "account"> },
  ) {
    const account = await chain.account(address, "latest");
    const sum = (account?.balance ?? 0n) + amount;
    await dev.edit([{ address, balance: sum < BALANCE_MAX ? sum : BALANCE_MAX }]);
  },
});
