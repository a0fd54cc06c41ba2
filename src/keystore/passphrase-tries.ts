import { TooManyTriesError } from "./errors.ts";

const WINDOW_MS = 60_000;

/**
 * Bounds guessing: so many wrong secrets a minute for one account or wallet. Tries under way count as wrong until they turn out right, so
 * sending many at once gains nothing.
 */
export class PassphraseTries {
  readonly #triesMax: number;
  readonly #now: () => number;
  readonly #onRejected: () => void;
  /** Times of the failures within the window, and how many tries are under way. */
  readonly #subjects = new Map<string, { failedAt: number[]; running: number }>();

  /**
   * @param modules.now monotonic milliseconds
   * @param modules.onRejected called for every rejected try
   */
  constructor(
    triesMax: number,
    modules: { readonly now?: () => number; readonly onRejected?: () => void } = {},
  ) {
    this.#triesMax = triesMax;
    this.#now = modules.now ?? (() => performance.now());
    this.#onRejected = modules.onRejected ?? (() => {});
  }

  /**
   * What `attempt` gives.
   * @param isWrong whether an error means a wrong passphrase
   * @throws TooManyTriesError without having called `attempt`, and what `attempt` throws
   */
  async run<T>(
    subject: string,
    attempt: () => Promise<T>,
    isWrong: (error: unknown) => boolean,
  ): Promise<T> {
    const state = this.#stateOf(subject);
    if (state.failedAt.length + state.running >= this.#triesMax) {
      this.#onRejected();
      const oldest = state.failedAt[0] ?? this.#now();
      throw new TooManyTriesError(Math.ceil((oldest + WINDOW_MS - this.#now()) / 1000));
    }
    state.running += 1;
    try {
      return await attempt();
    } catch (error) {
      if (isWrong(error)) state.failedAt.push(this.#now());
      throw error;
    } finally {
      state.running -= 1;
      if (state.running === 0 && state.failedAt.length === 0) this.#subjects.delete(subject);
    }
  }

  #stateOf(subject: string) {
    let state = this.#subjects.get(subject);
    if (state === undefined) {
      state = { failedAt: [], running: 0 };
      this.#subjects.set(subject, state);
    }
    const begin = this.#now() - WINDOW_MS;
    state.failedAt = state.failedAt.filter((at) => at > begin);
    return state;
  }
}
