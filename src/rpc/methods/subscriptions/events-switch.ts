import type { ChainEvents, ChainListener } from "../../ports/chain-view.ts";

/** The events of whichever chain is open: subscriptions outlive a chain that is replaced. */
export class EventsSwitch implements ChainEvents {
  #chain: ChainEvents;
  readonly #stops = new Map<ChainListener, () => void>();

  constructor(chain: ChainEvents) {
    this.#chain = chain;
  }

  subscribe(listener: ChainListener): () => void {
    this.#stops.set(listener, this.#chain.subscribe(listener));
    return () => {
      this.#stops.get(listener)?.();
      this.#stops.delete(listener);
    };
  }

  /** Every listener gets the events of `chain` from now on. */
  follow(chain: ChainEvents): void {
    this.#chain = chain;
    for (const [listener, stop] of [...this.#stops]) {
      stop();
      this.#stops.set(listener, chain.subscribe(listener));
    }
  }
}
