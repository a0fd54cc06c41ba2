import { BalanceOverflowError } from "../errors.ts";

/** Prices of a client in the API's units, billionths of the internal price. Numbers from 0. */
export type PriceFactors = {
  /** Per nanosecond of connection. */
  readonly timeFactor: number;
  /** Per nanosecond of connection and million units of capacity. */
  readonly capacityFactor: number;
  /** Per unit of request cost. */
  readonly requestCostFactor: number;
};

/** A client's prices while its balance is positive, and the growth of its negative balance afterwards. */
export type ClientPrices = { readonly positive: PriceFactors; readonly negative: PriceFactors };

/** geth's. */
const FACTORS: PriceFactors = { timeFactor: 0, capacityFactor: 1e9, requestCostFactor: 1e9 };
export const DEFAULT_PRICES: ClientPrices = { positive: FACTORS, negative: FACTORS };

/** Prices are computed in units of 1e-15, without rounding: a billionth for the factor, a millionth for the capacity. */
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

/** Maximum of int64. */
const BALANCE_MAX = 2n ** 63n - 1n;

/** A price by the given factors, times `PRICE_SCALE`. */
type PriceOf = (factors: PriceFactors) => bigint;

/**
 * A client's prepaid balance, and its debt, which affects only its rank. It pays while the positive balance lasts; the rest of a price grows the
 * negative balance. Exact: fractions of a unit are carried over.
 */
export class ClientBalance {
  #positive: bigint;
  /** Spent fraction of a unit of the positive balance. Below `PRICE_SCALE`. */
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
   * Adds to the positive balance, which does not fall below 0.
   * @throws BalanceOverflowError above 2^63 − 1, without changing anything
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
