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
    BigInt(Math.round(timeFactor)) * MILLION +
    BigInt(capacity) * BigInt(Math.round(capacityFactor));
  return perNanosecond * nanoseconds;
}

/** Price of a request of `cost`, times `PRICE_SCALE`. */
export function requestPrice({ requestCostFactor }: PriceFactors, cost: bigint): bigint {
  return cost * BigInt(Math.round(requestCostFactor)) * MILLION;
}
