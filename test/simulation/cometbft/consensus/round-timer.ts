import type { ConsensusMessage } from "../disk/wal.ts";
import type { System } from "../world.ts";

type Timeout = Extract<ConsensusMessage, { readonly kind: "timeout" }>;
type TimeoutPosition = Omit<Timeout, "kind">;

/** The one timeout of consensus: a later one takes the place of an earlier one, never the other way around (consensus/ticker.go). */
export class RoundTimer {
  readonly #system: System;
  readonly #onTimeout: (message: Timeout) => void;
  #last: TimeoutPosition = { height: 0, round: 0, step: 0 };
  #cancel: () => void = () => {};

  constructor(system: System, onTimeout: (message: Timeout) => void) {
    this.#system = system;
    this.#onTimeout = onTimeout;
  }

  schedule(ms: number, position: TimeoutPosition): void {
    const last = this.#last;
    const order = position.height - last.height || position.round - last.round || position.step - last.step;
    if (order < 0 || (order === 0 && last.step > 0)) return;
    this.#last = position;
    this.#cancel();
    this.#cancel = this.#system.after(ms, () => this.#onTimeout({ kind: "timeout", ...position }));
  }

  cancel(): void {
    this.#cancel();
  }
}
