import { NodeError } from "../base/errors.ts";

/** Another operation is changing the chain. */
class ChainBusyError extends NodeError {
  readonly code = "CHAIN_BUSY";
  constructor(running: string) {
    super(`${running} is changing the chain, try again later`, { running });
  }
}

/**
 * Changes of the chain outside the engine, such as an import or a rewind. They take many event-loop turns, and a second one would build on a
 * head that the first one moves.
 */
export class ChainChanges {
  #running: string | undefined;

  /** The result of `change`. @throws ChainBusyError while another one runs */
  async run<T>(name: string, change: () => Promise<T>): Promise<T> {
    this.assertNone();
    this.#running = name;
    try {
      return await change();
    } finally {
      this.#running = undefined;
    }
  }

  /** @throws ChainBusyError */
  assertNone(): void {
    if (this.#running !== undefined) throw new ChainBusyError(this.#running);
  }
}
