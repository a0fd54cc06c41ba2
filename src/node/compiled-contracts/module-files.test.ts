import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ModuleFiles } from "./module-files.ts";

const contents = Uint8Array.from({ length: 1000 }, (_, i) => i & 0xff);

test("a file is read as it was written, also by another process", (t) => {
  const directory = temporary(t);
  new ModuleFiles(directory, 1e6).write("a", contents);
  assert.deepEqual(new ModuleFiles(directory, 1e6).read("a"), contents);
  assert.equal(new ModuleFiles(directory, 1e6).read("b"), undefined);
});

test("a file of which any part was changed or cut off counts as missing, and is replaced", (t) => {
  const directory = temporary(t);
  const files = new ModuleFiles(directory, 1e6);
  files.write("a", contents);
  const path = join(directory, "a.wasm");
  const good = readFileSync(path);
  for (const at of [0, 31, 32, good.length - 1]) {
    const bad = Buffer.from(good);
    bad[at]! ^= 1;
    writeFileSync(path, bad);
    assert.equal(files.read("a"), undefined, `byte ${at}`);
  }
  for (const length of [0, 16, 32, good.length - 1]) {
    writeFileSync(path, good.subarray(0, length));
    assert.equal(files.read("a"), undefined, `${length} bytes`);
  }
  files.write("a", contents);
  assert.deepEqual(files.read("a"), contents);
});

test("beyond bytesMax the files read least recently are removed, also those of earlier processes", (t) => {
  const directory = temporary(t);
  const bytesMax = 5 * (contents.length + 32);
  for (let n = 0; n < 5; n++) {
    new ModuleFiles(directory, bytesMax).write(`old${n}`, contents);
    const readAt = new Date(2020, 0, 1 + n);
    utimesSync(join(directory, `old${n}.wasm`), readAt, readAt);
  }
  const files = new ModuleFiles(directory, bytesMax);
  assert.ok(files.read("old0"));
  files.write("new", contents);
  assert.ok(files.bytes <= bytesMax);
  assert.deepEqual(readdirSync(directory).sort(), ["new.wasm", "old0.wasm", "old4.wasm"]);
});

test("a directory that is deleted meanwhile is made again", (t) => {
  const directory = temporary(t);
  const files = new ModuleFiles(join(directory, "cache"), 1e6);
  files.write("a", contents);
  rmSync(join(directory, "cache"), { recursive: true });
  assert.equal(files.read("a"), undefined);
  files.write("a", contents);
  assert.deepEqual(files.read("a"), contents);
});

function temporary(t: { after(fn: () => void): void }): string {
  const directory = mkdtempSync(join(tmpdir(), "module-files-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
