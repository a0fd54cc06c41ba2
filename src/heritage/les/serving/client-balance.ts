import { BalanceOverflowError } from "../errors.ts";

/** Prices of a client in the API's units: a billionth of the price inside. Numbers from 0. */
export type PriceFactors = {
  /** For each nanosecond of connection. */
  readonly timeFactor: number;
  /** For each nanosecond of connection and a million units of capacity. */
  readonly capacityFactor: number;
  /** For each unit of request cost. */
  readonly requestCostFactor: number;
};

/** What a client pays while it has a positive balance, and what grows its negative balance afterwards. */
export type ClientPrices = { readonly positive: PriceFactors; readonly negative: PriceFactors };

/** geth's. */
const FACTORS: PriceFactors = { timeFactor: 0, capacityFactor: 1e9, requestCostFactor: 1e9 };
export const DEFAULT_PRICES: ClientPrices = { positive: FACTORS, negative: FACTORS };

/** Prices are computed in units of 1e-15, so that no fraction is lost: a billionth for the factor, a millionth for the capacity. */
export const PRICE_SCALE = 10n ** 15n;
const MILLION = 10n ** 6n;

/** Price of `nanoseconds` of connection with `capacity`, times `PRICE_SCALE`. */
export function connectionPrice(
  { timeFactor, capacityFactor }: PriceFactors,
  capacity: number,
  nanoseconds: bigint,
): bigint {
  const perNanosecond =
    BigInt(Math.round(timeFactor)) * MILLION + BigInt(capacity) * BigInt(Math.round(capacityFactor));
  return perNanosecond * nanoseconds;
}

/** Price of a request of `cost`, times `PRICE_SCALE`. */
export function requestPrice({ requestCostFactor }: PriceFactors, cost: bigint): bigint {
  return cost * BigInt(Math.round(requestCostFactor)) * MILLION;
}

/** As int64 has it. */
const BALANCE_MAX = 2n ** 63n - 1n;

/** The price of something by the factors given, times `PRICE_SCALE`. */
type PriceOf = (factors: PriceFactors) => bigint;

/**
 * What a client has paid ahead, and what it owes in rank but never in money. While the positive balance lasts it pays; the rest of the
 * same price grows the negative balance. Exact: fractions of a unit are carried on.
 */
export class ClientBalance {
  #positive: bigint;
  /** Part of a unit of the positive balance that is spent. Below `PRICE_SCALE`. */
  #spentFraction = 0n;
  /** Times `PRICE_SCALE`. */
  #negative = 0n;

  constructor(positive = 0n) {
    this.#positive = positive;
  }

  get positive(): bigint {
    return this.#positive;
  }

  get negative(): bigint {
    return this.#negative / PRICE_SCALE;
  }

  /**
   * Adds to the positive balance; below 0 it ends at 0.
   * @throws BalanceOverflowError above 2^63 − 1, with nothing changed
   */
  add(amount: bigint): { readonly before: bigint; readonly after: bigint } {
    const before = this.#positive;
    const after = before + amount;
    if (after > BALANCE_MAX) throw new BalanceOverflowError();
    this.#positive = after > 0n ? after : 0n;
    if (this.#positive === 0n) this.#spentFraction = 0n;
    return { before, after: this.#positive };
  }

  charge({ positive, negative }: ClientPrices, priceOf: PriceOf): void {
    const price = priceOf(positive);
    const available = this.#positive * PRICE_SCALE - this.#spentFraction;
    if (price <= available) {
      const left = available - price;
      // Rounded up: a fraction of a unit counts as one.
      this.#positive = (left + PRICE_SCALE - 1n) / PRICE_SCALE;
      this.#spentFraction = this.#positive * PRICE_SCALE - left;
      return;
    }
    this.#positive = 0n;
    this.#spentFraction = 0n;
    const debt = priceOf(negative);
    this.#negative += price === 0n ? debt : (debt * (price - available)) / price;
  }
}
