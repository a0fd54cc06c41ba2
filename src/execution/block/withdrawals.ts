import { EMPTY_ACCOUNT } from "../../state/account.ts";
import type { WorldState } from "../../state/world-state.ts";
import type { Withdrawal } from "../../types/block.ts";

const WEI_PER_GWEI = 1_000_000_000n;

/** EIP-4895: credits each withdrawal; an account that is empty afterwards is not created. */
export function applyWithdrawals(withdrawals: readonly Withdrawal[], state: WorldState): void {
  for (const { address, amount } of withdrawals) {
    const account = state.account(address) ?? EMPTY_ACCOUNT;
    state.setAccount(address, { ...account, balance: account.balance + amount * WEI_PER_GWEI });
  }
  state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: true });
}
