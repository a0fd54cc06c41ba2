import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "./make-folder.ts";

function temporary(t: { after(run: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), "evmint-folder-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("the missing folders of a path are made for their owner only, and those that exist are left alone", (t) => {
  const folder = temporary(t);
  makeFolder(join(folder, "a", "b", "c"));
  makeFolder(join(folder, "a", "b", "c"));
  assert.equal(statSync(join(folder, "a", "b")).mode & 0o777, 0o700);
  symlinkSync(join(folder, "a"), join(folder, "link"));
  makeFolder(join(folder, "link", "d"));
  assert.ok(existsSync(join(folder, "a", "d")));
});

test("a file on the way is an error", (t) => {
  const folder = temporary(t);
  writeFileSync(join(folder, "file"), "");
  assert.throws(() => makeFolder(join(folder, "file")), { code: "EEXIST" });
  assert.throws(() => makeFolder(join(folder, "file", "a")), { code: "ENOTDIR" });
});

test("a file system that makes no folders is an error at once", {
  skip: process.platform === "linux" ? false : "/proc is Linux's",
}, () => {
  assert.throws(() => makeFolder("/proc/evmint/home"), { code: "ENOENT" });
});
