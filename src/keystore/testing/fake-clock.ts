import type { MonotonicClock } from "../unlocked-keys.ts";

/** A clock that only moves when advanced, and then runs due timers in order. */
export class FakeClock implements MonotonicClock {
  #now = 1000;
  #tasks: { at: number; task: () => void }[] = [];

  now = () => this.#now;

  after(ms: number, task: () => void): () => void {
    const entry = { at: this.#now + ms, task };
    this.#tasks.push(entry);
    return () => {
      this.#tasks = this.#tasks.filter((each) => each !== entry);
    };
  }

  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = this.#tasks.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#now = Math.max(this.#now, due.at);
      this.#tasks = this.#tasks.filter((each) => each !== due);
      due.task();
    }
    this.#now = end;
  }

  /** Moves the time without waking anybody: a timer that is late. */
  jump(ms: number): void {
    this.#now += ms;
  }

  get pending(): number {
    return this.#tasks.length;
  }
}
