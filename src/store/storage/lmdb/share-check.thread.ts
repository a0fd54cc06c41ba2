import type { MessagePort } from "node:worker_threads";
import { threadData } from "../../../base/threads/native-calls.ts";
import type { CheckShare } from "./lmdb-check-thread.ts";
import { mainTreeCheck } from "./lmdb-file-check.ts";
import { LmdbFault } from "./lmdb-tree-check.ts";
import { checkSubtrees, type SharedCheck, WORD } from "./shared-lmdb-check.ts";

const { port, shared } = threadData<{ readonly port: MessagePort; readonly shared: SharedCheck }>();
const { words } = shared;

if (Atomics.compareExchange(words, WORD.begun, 0, 1) === 0) {
  port.postMessage(check());
  Atomics.store(words, WORD.ended, 1);
  Atomics.notify(words, WORD.ended);
}
port.close();

function check(): CheckShare {
  const tree = mainTreeCheck(shared.checked, shared.depth, (pages) => void Atomics.add(words, WORD.pages, pages));
  try {
    checkSubtrees(tree, shared);
    return { counts: tree.counts };
  } catch (error) {
    return error instanceof LmdbFault ? { fault: error.message } : { error: String(error) };
  }
}
