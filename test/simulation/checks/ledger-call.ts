import type { Address } from "../../../src/base/primitives/address.ts";
import type { Random } from "../kernel/random.ts";
import { LEDGER } from "../workload/contracts.ts";
import { USERS } from "../workload/user-keys.ts";
import { ModelDisagreement, type ModelState, word } from "./model.ts";

/** A call of the counting contract, which succeeds where the caller's count is the one it names. */
export type LedgerCall = { readonly from: Address; readonly to: Address; readonly count: number };

/** @param state by which the count is guessed: mostly right, so that an answer of another state differs */
export function drawLedgerCall(random: Random, state: ModelState | undefined): LedgerCall {
  const { address } = random.pick(USERS);
  const count = (state?.counts.get(address) ?? 0) + (random.chance(0.2) ? 1 : 0);
  return { from: address, to: LEDGER.address, count };
}

/** In hex. */
export function calldataOf({ count }: LedgerCall): string {
  return word(BigInt(count));
}

/** @throws ModelDisagreement */
export function checkLedgerCall({ from, count }: LedgerCall, isSuccess: boolean, { number, counts }: ModelState): void {
  const actual = counts.get(from) ?? 0;
  if (isSuccess === (actual === count)) return;
  const outcome = isSuccess ? "succeeds" : "fails";
  throw new ModelDisagreement(
    `a call for count ${count} of ${from} ${outcome} on block ${number}, where it is ${actual}`,
  );
}
