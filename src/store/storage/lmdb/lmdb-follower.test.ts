import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { rowKey, VALUE_BYTES } from "../../../../test/support/store/storage/follow-rows-format.ts";
import { testProgram } from "../../../../test/support/test-program.ts";
import type { Kv } from "../kv.ts";
import { openLmdbKv } from "./lmdb-kv.ts";

const ENTRY = testProgram(new URL("../../../../test/support/store/storage/follow-rows.ts", import.meta.url));
const ROWS_A_ROUND = 4_000;

describe("an index that another process follows", () => {
  const directory = mkdtempSync(join(tmpdir(), "evmint-follow-"));
  let kv: Kv;
  let count = 0;
  before(() => {
    kv = openLmdbKv(directory);
    write(1);
  });
  after(() => {
    kv.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function write(rows: number): void {
    kv.transaction((writer) => {
      for (let end = count + rows; count < end; count++) {
        writer.put(rowKey(count), new Uint8Array(VALUE_BYTES).fill(count & 0xff));
      }
    });
  }

  function follow(): ChildProcess {
    return fork(ENTRY.file, [directory], { execArgv: [...ENTRY.execArgv] });
  }

  async function rightRows(follower: ChildProcess): Promise<number> {
    const answer = once(follower, "message");
    follower.send(count);
    return (await answer)[0];
  }

  test("shows it every committed row while the file outgrows the map that the process began with", async () => {
    const follower = follow();
    // To 96 MB: the map doubles several times.
    for (let round = 0; round < 6; round++) {
      write(ROWS_A_ROUND);
      assert.equal(await rightRows(follower), count);
    }
    follower.kill();
    await once(follower, "exit");
  });

  test("takes writes and other followers after a follower was killed", async () => {
    const killed = follow();
    assert.equal(await rightRows(killed), count);
    killed.kill("SIGKILL");
    await once(killed, "exit");
    write(10);
    const next = follow();
    assert.equal(await rightRows(next), count);
    next.kill();
    await once(next, "exit");
  });
});
