import { parentPort } from "node:worker_threads";
import { threadData } from "../../../base/threads/native-calls.ts";
import type { BackgroundCheckData, CheckResult } from "./background-lmdb-check.ts";
import { divideMainTree, finishFileCheck, mainTreeCheck } from "./lmdb-file-check.ts";
import { LmdbFault } from "./lmdb-tree-check.ts";

const { check, stopped } = threadData<BackgroundCheckData>();

class Stopped extends Error {}

const result = run();
if (result !== undefined) parentPort!.postMessage(result);

/** undefined once it is no longer needed */
function run(): CheckResult | undefined {
  const { checked, meta } = check;
  const tree = mainTreeCheck(checked, meta.main.depth, goOn);
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

function goOn(): void {
  if (Atomics.load(stopped, 0) === 1) throw new Stopped();
}
