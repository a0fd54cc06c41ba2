/**
 * Stands in for `node:test` where the test files of a room share one process: a file's tests are collected while the file is evaluated, and run as one
 * suite with the file's path as its name, so that its hooks are its own. Tests inside suites and tests, and those of a file with a process of its own, go to
 * `node:test` at once.
 */
import * as nodeTest from "node:test";

/** Paths of the files that run, as JSON; all of the room where it is not set. */
const only = process.env.TEST_FILES && new Set(JSON.parse(process.env.TEST_FILES));

/** By path, in order of evaluation: calls to repeat inside the file's suite. */
const files = new Map();
let collected;

/** Evaluated before the module of the test file `path`. */
export function beginFile(path) {
  collected = [];
  files.set(path, collected);
}

/** Once all files of the room are evaluated. */
export function runFiles() {
  collected = undefined;
  for (const [path, calls] of files) {
    if (only && !only.has(path)) continue;
    nodeTest.describe(path, () => {
      for (const call of calls) call();
    });
  }
}

function later(run) {
  return (...args) => {
    if (collected === undefined) return run(...args);
    collected.push(() => void run(...args));
    return Promise.resolve();
  };
}

function withVariants(run) {
  return Object.assign(later(run), { skip: later(run.skip), todo: later(run.todo), only: later(run.only) });
}

export const test = withVariants(nodeTest.test);
export const it = withVariants(nodeTest.it);
export const describe = withVariants(nodeTest.describe);
export const before = later(nodeTest.before);
export const after = later(nodeTest.after);
export const beforeEach = later(nodeTest.beforeEach);
export const afterEach = later(nodeTest.afterEach);
export const mock = nodeTest.mock;
export default test;
