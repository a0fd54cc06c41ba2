import type { Timer, Timers } from "../../base/telemetry/timers.ts";
import type { Limits } from "../config/config.ts";

export type BeatModules = {
  readonly timers: Pick<Timers, "every">;
  /** Asks the other side, which answers in the next turn of its event loop. */
  readonly ask: () => Promise<unknown>;
  readonly onSilent: () => void;
  /** The other side answers again after `onSilent`. */
  readonly onAnswer: () => void;
  /** The other side is considered dead. */
  readonly onLost: () => void;
};

/**
 * Watches that another process runs its event loop. It counts missed beats instead of time: if this process was stopped, no time passed in which
 * the other could have answered.
 */
export class Beat {
  readonly #limits: Limits["processes"];
  readonly #modules: BeatModules;
  readonly #timer: Timer;
  #isAsked = false;
  #missed = 0;

  constructor(limits: Limits["processes"], modules: BeatModules) {
    this.#limits = limits;
    this.#modules = modules;
    this.#timer = modules.timers.every(limits.beatMs, "beat of an RPC process", () => this.#next());
  }

  get isSilent(): boolean {
    return this.#missed >= this.#limits.silentBeats;
  }

  stop(): void {
    this.#timer.cancel();
  }

  #next(): void {
    const { silentBeats, lostBeats } = this.#limits;
    if (!this.#isAsked) {
      this.#isAsked = true;
      this.#modules.ask().then(
        () => this.#answered(),
        () => this.stop(),
      );
      return;
    }
    this.#missed++;
    if (this.#missed === silentBeats) this.#modules.onSilent();
    if (this.#missed < lostBeats) return;
    this.stop();
    this.#modules.onLost();
  }

  #answered(): void {
    const wasSilent = this.isSilent;
    this.#isAsked = false;
    this.#missed = 0;
    if (wasSilent) this.#modules.onAnswer();
  }
}
