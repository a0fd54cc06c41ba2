import { SharedSlices } from "../../../../src/base/threads/shared-slices.ts";

/** Slices that are over whenever somebody looks at the clock: the turns are the steps of the work. */
export class CountedSlices extends SharedSlices {
  turns = 0;

  constructor() {
    super({ now: () => 0, deferred: () => () => {} });
  }

  override enter(): undefined {
    return undefined;
  }

  override isOver(): boolean {
    return true;
  }

  override next(): Promise<undefined> {
    this.turns++;
    return Promise.resolve(undefined);
  }
}
