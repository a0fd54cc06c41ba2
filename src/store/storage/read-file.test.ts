import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { HOSTILE_FILES } from "../../../test/support/store/storage/hostile-files.ts";
import { readJsonFile, readRegularFile, readTextFile } from "./read-file.ts";

const folder = mkdtempSync(join(tmpdir(), "read-file-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const bounds = { bytesMax: 100 };
const skip = process.platform === "win32" && "there are no such files";

for (const [what, make] of Object.entries(HOSTILE_FILES)) {
  test(`readRegularFile refuses ${what}, with its path`, { skip }, () => {
    const path = join(folder, what.replaceAll(" ", "-"));
    make(path);
    assert.throws(
      () => readRegularFile(path, bounds),
      (error: NodeJS.ErrnoException) => error.message.includes(path) && /FILE_UNUSABLE|ENXIO|ELOOP/.test(error.code!),
    );
  });
}

test("readRegularFile reads a file up to its bound, through a link unless links are refused", { skip }, () => {
  const [path, link] = [join(folder, "file"), join(folder, "link")];
  writeFileSync(path, "x".repeat(100));
  symlinkSync(path, link);
  assert.equal(readRegularFile(link, bounds).toString(), "x".repeat(100));
  assert.throws(() => readRegularFile(link, { ...bounds, refuseLinks: true }), { code: "FILE_UNUSABLE" });
  assert.throws(() => readRegularFile(path, { bytesMax: 99 }), { code: "FILE_UNUSABLE" });
  assert.throws(() => readRegularFile(join(folder, "none"), bounds), { code: "ENOENT" });
});

test("readTextFile and readJsonFile name the file that is not UTF-8 or JSON", () => {
  const path = join(folder, "text");
  writeFileSync(path, Uint8Array.of(0x7b, 0xff));
  assert.throws(() => readTextFile(path, bounds), { code: "FILE_UNUSABLE" });
  writeFileSync(path, '{"a":');
  assert.equal(readTextFile(path, bounds), '{"a":');
  assert.throws(() => readJsonFile(path, bounds), { code: "FILE_UNUSABLE" });
  writeFileSync(path, '\ufeff{"a":1}');
  assert.deepEqual(readJsonFile(path, bounds), { a: 1 });
});
