import assert from "node:assert/strict";
import { test } from "node:test";
import { commitAgain } from "./lmdb-kv.ts";

/** Fails with these errors, then commits. */
function commits(...errors: Error[]) {
  let calls = 0;
  const commit = () => {
    const error = errors[calls++];
    if (error !== undefined) throw error;
    return calls;
  };
  return { commit, calls: () => calls };
}

const aborted = () => Object.assign(new Error("MDB_BAD_TXN"), { code: -30782 });

test("a transaction that LMDB aborted is committed a second time, and not a third", () => {
  assert.equal(commitAgain(commits().commit), 1);
  assert.equal(commitAgain(commits(aborted()).commit), 2);
  const failing = commits(aborted(), aborted());
  assert.throws(() => commitAgain(failing.commit), { code: -30782 });
  assert.equal(failing.calls(), 2);
});

test("a transaction that failed for another reason is not repeated", () => {
  const full = commits(Object.assign(new Error("MDB_MAP_FULL"), { code: -30792 }));
  assert.throws(() => commitAgain(full.commit), { code: -30792 });
  assert.equal(full.calls(), 1);
});
