import { TooManyError } from "../../dispatch/errors.ts";

/** The `traceChain` subscriptions of all connections. */
export class TraceChains {
  readonly #max: number;
  /** Receives why a block could not be traced where that is a fault of the node. */
  readonly onError: (error: unknown) => void;
  #size = 0;

  constructor(options: { readonly max: number; readonly onError: (error: unknown) => void }) {
    this.#max = options.max;
    this.onError = options.onError;
  }

  get size(): number {
    return this.#size;
  }

  /** @throws TooManyError */
  begin(): void {
    if (this.#size >= this.#max) throw new TooManyError(`too many chains are traced: ${this.#max}`);
    this.#size++;
  }

  end(): void {
    this.#size--;
  }
}
