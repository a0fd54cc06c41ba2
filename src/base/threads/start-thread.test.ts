import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type AddonThreadData, SHARED } from "../../../test/support/base/threads/addon-thread-data.ts";
import { openLmdbKv } from "../../store/storage/lmdb/lmdb-kv.ts";
import { startThread } from "./start-thread.ts";

function start(t: TestContext, calls: AddonThreadData["calls"], threadCount = 1) {
  const directory = mkdtempSync(join(tmpdir(), "evmint-addons-"));
  const kv = openLmdbKv(directory);
  t.after(() => {
    kv.close();
    rmSync(directory, { recursive: true });
  });
  kv.transaction((writer) => writer.put(Buffer.from("key"), Buffer.from("value")));
  const shared = new Int32Array(new SharedArrayBuffer(12));
  const workerData: AddonThreadData = { directory, shared, calls };
  const threads = Array.from({ length: threadCount }, () =>
    startThread("../test/support/base/threads/enter-addons.thread", { workerData }),
  );
  return { shared, threads };
}

test("a thread ends after the native call it is in, and enters no other", async (t) => {
  const { shared, threads } = start(t, "slow");
  const [thread] = threads;
  await once(thread!, "message");
  const ended = thread!.end();
  Atomics.store(shared, SHARED.go, 1);
  await ended;
  assert.equal(shared[SHARED.left], 1);
  assert.equal(shared[SHARED.entered], 1);
});

test("threads that are ended while they call LMDB and secp256k1 do not abort the process", async (t) => {
  const { threads } = start(t, "addons", 4);
  await Promise.all(threads.map((thread) => once(thread, "message")));
  for (const thread of threads) await thread.end();
});
