import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createFreeSpaceReader } from "./write-guard.ts";

test("createFreeSpaceReader asks the system once in 50 ms", () => {
  const directory = mkdtempSync(join(tmpdir(), "evmint-free-space-"));
  let time = 1_000;
  const freeBytes = createFreeSpaceReader(directory, () => time);
  const first = freeBytes();
  assert.ok(first > 0);
  // Asking again would throw.
  rmSync(directory, { recursive: true });
  time += 49;
  assert.equal(freeBytes(), first);
  time += 1;
  assert.throws(freeBytes, { code: "ENOENT" });
});
