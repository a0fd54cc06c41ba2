import { type Hardfork, RULES_AT } from "../../../base/params/hardforks.ts";
import type { Withdrawal } from "../../../base/types/block.ts";
import type { Header } from "../../../base/types/header.ts";
import type { ExecuteOptions } from "../../machine/evm.ts";
import { credited, EMPTY_ACCOUNT } from "../../state/account.ts";
import type { WorldState } from "../../state/world-state.ts";

const ETHER = 10n ** 18n;

/**
 * Wei for a proof-of-work block (Yellow Paper 11.3; EIP-649, EIP-1234); 0 from the merge on (EIP-3675), which a difficulty of 0 says even
 * if the block's number is before London: its rules are old, but it was not mined.
 */
export function blockReward(hardfork: Hardfork, difficulty: bigint): bigint {
  if (difficulty === 0n || RULES_AT[hardfork].paris) return 0n;
  if (RULES_AT[hardfork].constantinople) return 2n * ETHER;
  if (RULES_AT[hardfork].byzantium) return 3n * ETHER;
  return 5n * ETHER;
}

/** Pays the miners of a proof-of-work block and of its uncles. */
export function applyRewards(
  header: Pick<Header, "number" | "coinbase" | "difficulty">,
  uncles: readonly Pick<Header, "number" | "coinbase">[],
  hardfork: Hardfork,
  state: WorldState,
): void {
  const reward = blockReward(hardfork, header.difficulty);
  if (reward === 0n) return;
  const credit = (coinbase: Header["coinbase"], amount: bigint) => {
    state.setAccount(coinbase, credited(state.account(coinbase) ?? EMPTY_ACCOUNT, amount));
  };
  for (const uncle of uncles) {
    // An uncle is one to six blocks old and loses an eighth for each.
    credit(uncle.coinbase, (reward * BigInt(uncle.number + 8 - header.number)) / 8n);
  }
  credit(header.coinbase, reward + (reward / 32n) * BigInt(uncles.length));
  state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: false });
}

const WEI_PER_GWEI = 1_000_000_000n;

/** EIP-4895: credits each withdrawal; an account that is empty afterwards is not created. */
export function applyWithdrawals(
  withdrawals: readonly Withdrawal[],
  state: WorldState,
  onAccess?: ExecuteOptions["onAccess"],
): void {
  for (const { address, amount } of withdrawals) {
    onAccess?.(address, undefined);
    state.setAccount(address, credited(state.account(address) ?? EMPTY_ACCOUNT, amount * WEI_PER_GWEI));
  }
  state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: true });
}
