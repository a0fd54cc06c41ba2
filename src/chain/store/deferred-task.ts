export type DeferredTaskOptions = {
  /** Runs work once nothing else is to be done. */
  readonly defer: (work: () => void) => void;
  readonly isNeeded: () => boolean;
  /** Asked when it is about to run; false ends the task until it is scheduled again. */
  readonly canRun: () => boolean;
  /** One piece of the work. */
  readonly work: () => void;
  /** There is no caller to throw to. The task ends until it is scheduled again. */
  readonly onFailure: (error: unknown) => void;
};

/** Work that is done a piece at a time when nothing else is to be done, as long as it is needed. */
export class DeferredTask {
  readonly #options: DeferredTaskOptions;
  #isDeferred = false;

  constructor(options: DeferredTaskOptions) {
    this.#options = options;
  }

  schedule(): void {
    const { defer, isNeeded, canRun, work, onFailure } = this.#options;
    if (this.#isDeferred || !isNeeded()) return;
    this.#isDeferred = true;
    defer(() => {
      this.#isDeferred = false;
      if (!canRun()) return;
      try {
        work();
      } catch (error) {
        onFailure(error);
        return;
      }
      this.schedule();
    });
  }
}
