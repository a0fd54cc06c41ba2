import { parentPort } from "node:worker_threads";
import { threadData } from "../threads/native-calls.ts";
import { lowerThreadPriority } from "../threads/thread-priority.ts";
import { type BackgroundCheckData, type CheckResult, NICE } from "./background-lmdb-check.ts";
import { divideMainTree, finishFileCheck, mainTreeCheck } from "./lmdb-file-check.ts";
import { LmdbFault } from "./lmdb-tree-check.ts";

const { check, stopped } = threadData<BackgroundCheckData>();

/** Between two pauses: some milliseconds, so that callers on the same processor wait no longer. */
const STEP_PAGES = 1_024;

class Stopped extends Error {}

lowerThreadPriority(NICE);
const result = run();
if (result !== undefined) parentPort!.postMessage(result);

/** undefined where nobody needs it any more */
function run(): CheckResult | undefined {
  const { checked, meta } = check;
  const tree = mainTreeCheck(checked, meta.main.depth, pacer());
  try {
    for (const subtree of divideMainTree(tree, meta)) tree.check(subtree);
    finishFileCheck(check, tree.counts);
    return { fault: undefined };
  } catch (error) {
    if (error instanceof Stopped) return undefined;
    if (error instanceof LmdbFault) return { fault: error.message };
    throw error;
  }
}

/** Rests as long as it worked: half of a processor and of the disk is for others. */
function pacer(): (pages: number) => void {
  let pages = 0;
  let since = performance.now();
  return (more) => {
    pages += more;
    if (pages < STEP_PAGES) return;
    pages = 0;
    if (Atomics.wait(stopped, 0, 0, performance.now() - since) !== "timed-out") throw new Stopped();
    since = performance.now();
  };
}
