import type { MessagePort } from "node:worker_threads";
import { LmdbPart, packRuns } from "../../../storage/lmdb-build.ts";
import { threadData } from "../../../threads/native-calls.ts";
import { StateEntries } from "../../records/state-entries.ts";
import type { Row } from "./genesis-rows.ts";
import type { GenesisShare } from "./genesis-thread.ts";
import { type GenesisJob, GenesisWork, STAGE, WORD } from "./genesis-work.ts";

const port = threadData<MessagePort>();

port.once("message", (job: GenesisJob) => {
  const { words } = job;
  if (Atomics.compareExchange(words, WORD.begun, 0, 1) === 0) {
    try {
      port.postMessage(workOn(job));
      Atomics.store(words, WORD.ended, 1);
    } catch (error) {
      port.postMessage(String(error));
      Atomics.store(words, WORD.ended, 2);
    }
    for (let word = 0; word < WORD.count; word++) Atomics.notify(words, word);
  }
  port.close();
});

function workOn(job: GenesisJob): GenesisShare {
  const part = new LmdbPart(job.load);
  // Where the main thread ends, so does this one; and it may wait for its disk as long as that takes.
  const work = new GenesisWork(job, part, new StateEntries(job.state), Infinity);
  work.hashKeys();
  work.wait(WORD.stage, STAGE.tries);
  work.buildTries();
  work.sortAddresses();
  work.wait(WORD.stage, STAGE.rows);
  work.writeRows();
  return { runs: packRuns(part.finish()), early: work.early.map(copyOf) };
}

/** Not a view of a buffer that others share, which would be sent as a whole. */
function copyOf({ key, value }: Row): Row {
  return { key: Uint8Array.from(key), value: Uint8Array.from(value) };
}
