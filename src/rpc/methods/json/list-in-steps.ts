import { StepWork } from "../../../base/threads/in-slices.ts";

/** A transaction or a receipt takes as long to write as half an item of `StepWork`, besides its bytes. */
export const TEXT_WORK = 0.5;

/** JSON text of a list of transactions, receipts or what else is as large, in steps of some of them. */
export function* listInSteps<T>(items: Iterable<T>, textOf: (item: T) => string): Generator<undefined, string> {
  const texts: string[] = [];
  const work = new StepWork();
  for (const item of items) {
    const text = textOf(item);
    texts.push(text);
    if (work.add(text.length, TEXT_WORK)) yield;
  }
  yield;
  return `[${texts.join(",")}]`;
}
