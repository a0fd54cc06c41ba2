import { type Hardfork, isAtLeast } from "../../params/hardforks.ts";
import type { Transaction } from "./transaction.ts";

const SINCE: Readonly<Record<Transaction["type"], Hardfork>> = {
  0: "frontier",
  1: "berlin",
  2: "london",
  3: "cancun",
  4: "prague",
};

/** The fork that brought transactions of `type`. */
export function transactionTypeSince(type: Transaction["type"]): Hardfork {
  return SINCE[type];
}

/** True when a block of `hardfork` may hold transactions of `type`. */
export function isTransactionTypeSupported(type: Transaction["type"], hardfork: Hardfork): boolean {
  return isAtLeast(hardfork, SINCE[type]);
}
