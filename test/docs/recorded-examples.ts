import assert from "node:assert/strict";
import { readExamples } from "../../scripts/examples/answers.ts";
import { type Examples, shapeFault } from "../../scripts/examples/recorder.ts";

/** Asserts that what was recorded now has the form of the examples in the documentation. */
export function assertExamplesFit(found: Examples): void {
  const recorded = readExamples();
  const faults = [...found].flatMap(([name, example]) => {
    const fault = shapeFault(recorded.get(name)!, example);
    return fault === undefined ? [] : [`${name}: ${fault}; run npm run docs:examples`];
  });
  assert.deepEqual(faults, []);
}
