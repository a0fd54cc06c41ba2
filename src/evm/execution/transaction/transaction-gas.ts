import type { ExecutionResult } from "../../machine/evm.ts";

/**
 * The gas of one transaction from Amsterdam on, beyond what is intrinsic (EIP-8037): `left` for execution, and a reservoir for growth of the
 * state, which takes from `left` what it lacks.
 */
export class TransactionGas {
  left: bigint;
  reservoir: bigint;
  /** Of `left`: lent to the reservoir. */
  #spilled = 0n;
  readonly #granted: bigint;

  constructor(execution: bigint, reservoir: bigint) {
    this.left = execution;
    this.reservoir = reservoir;
    this.#granted = reservoir;
  }

  /** Takes both, first that for execution. False, with nothing taken, where it is not there. */
  charge(execution: bigint, state: bigint): boolean {
    const lent = state > this.reservoir ? state - this.reservoir : 0n;
    if (execution + lent > this.left) return false;
    this.left -= execution + lent;
    this.reservoir -= state - lent;
    this.#spilled += lent;
    return true;
  }

  /** Gives back state gas, first what was lent. */
  refill(state: bigint): void {
    const back = state < this.#spilled ? state : this.#spilled;
    this.left += back;
    this.#spilled -= back;
    this.reservoir += state - back;
  }

  /** Takes over the gas that the first frame, which received all of it, has left. */
  absorb({ gasLeft, reservoirLeft = 0n, spilled = 0n }: ExecutionResult): void {
    this.left = gasLeft;
    this.reservoir = reservoirLeft;
    this.#spilled += spilled;
    this.#repay();
  }

  /** The first frame was not begun: what was charged for is undone, and the gas is burned. */
  halt(): void {
    this.left = 0n;
    this.#spilled = 0n;
    this.reservoir = this.#granted;
  }

  /** What the state grew by. */
  get stateUsed(): bigint {
    return this.#granted - this.reservoir + this.#spilled;
  }

  #repay(): void {
    const repaid = this.reservoir < this.#spilled ? this.reservoir : this.#spilled;
    this.left += repaid;
    this.reservoir -= repaid;
    this.#spilled -= repaid;
  }
}
