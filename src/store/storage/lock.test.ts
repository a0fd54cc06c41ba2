import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { testProgram } from "../../../test/support/test-program.ts";
import { lockFile } from "./lock.ts";

const hasFlock = spawnSync("flock", ["--version"]).status === 0;
const holder = testProgram(new URL("../../../test/support/store/storage/lock-holder.ts", import.meta.url));

async function withPath(use: (path: string) => Promise<void> | void): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "evmint-lock-"));
  try {
    await use(join(directory, "lock"));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A process that holds the lock until it is killed. */
async function startHolder(path: string, systemLock: boolean) {
  const child = spawn(process.execPath, [...holder.execArgv, holder.file, path, systemLock ? "system" : "file"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return {
    pid: child.pid!,
    async kill() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

for (const systemLock of [true, false]) {
  const skip = systemLock && !hasFlock && process.platform === "linux" && "no flock command here";
  describe(`lockFile by ${systemLock ? "the system's lock" : "process number"}`, { skip }, () => {
    test("refuses while another process holds it, by its number, and takes over once that was killed", () =>
      withPath(async (path) => {
        const other = await startHolder(path, systemLock);
        const expected = { code: "STORE_LOCKED", details: { path, pid: other.pid } };
        assert.throws(() => lockFile(path, { systemLock }), expected);
        assert.throws(() => lockFile(path, { systemLock }), expected);
        await other.kill();
        lockFile(path, { systemLock }).release();
      }));

    test("is free again after release", () =>
      withPath((path) => {
        lockFile(path, { systemLock }).release();
        lockFile(path, { systemLock }).release();
      }));

    test("takes over what a dead process, another boot or a torn write left", () =>
      withPath((path) => {
        const { pid } = process;
        const parent = process.ppid;
        for (const left of [
          "",
          "{",
          '{"pid":4194303}',
          JSON.stringify({ pid: parent, startTicks: "1", world: "another boot" }),
          JSON.stringify({ pid }),
        ]) {
          writeFileSync(path, left);
          lockFile(path, { systemLock }).release();
        }
      }));
  });
}

test("lockFile refuses a second lock of the same process", { skip: !hasFlock }, () =>
  withPath((path) => {
    const lock = lockFile(path);
    assert.throws(() => lockFile(path), {
      code: "STORE_LOCKED",
      details: { path, pid: process.pid },
    });
    lock.release();
  }),
);
