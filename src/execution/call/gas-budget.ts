/** Gas that the calls of one request may use together. */
export type GasBudget = {
  /** As much of `gas` as the budget has. */
  cap(gas: bigint): bigint;
  use(gas: bigint): void;
};

/** @param total units; 0: no limit */
export function createGasBudget(total: bigint): GasBudget {
  if (total === 0n) return { cap: (gas) => gas, use() {} };
  let left = total;
  return {
    cap: (gas) => (gas < left ? gas : left),
    // A call uses no more than it was given, and that came out of what was left.
    use(gas) {
      left -= gas;
    },
  };
}
