import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { SILENT_LOGGER } from "../../../telemetry/logger.ts";
import { AllowedNodesFile } from "./allowed-nodes-file.ts";

const A = "aa".repeat(20);
const B = "bb".repeat(20);
const folder = mkdtempSync(join(tmpdir(), "evmint-allowed-nodes-"));
after(() => rmSync(folder, { recursive: true }));

/** A file whose text each call replaces, as an editor does. */
function fileOf(name: string) {
  const path = join(folder, name);
  return {
    path,
    write(text: string) {
      writeFileSync(`${path}.new`, text);
      renameSync(`${path}.new`, path);
    },
  };
}

test("a changed file is read again; one that is gone or is no list of nodes changes nothing", () => {
  const { path, write } = fileOf("nodes.json");
  const errors: string[] = [];
  write(JSON.stringify({ [A.toUpperCase()]: "bank A" }));
  const file = new AllowedNodesFile(path, { ...SILENT_LOGGER, error: (text) => void errors.push(text) });
  const known = () => [file.has(A), file.has(B)];
  assert.deepEqual(known(), [true, false]);
  write(JSON.stringify({ [B]: "bank B" }));
  assert.deepEqual(known(), [true, false]);
  file.refresh();
  assert.deepEqual(known(), [false, true]);

  write("{");
  file.refresh();
  file.refresh();
  assert.deepEqual([known(), errors.length], [[false, true], 1]);
  rmSync(path);
  file.refresh();
  file.refresh();
  assert.deepEqual([known(), errors.length], [[false, true], 2]);
  write("{}");
  file.refresh();
  assert.deepEqual([known(), errors.length], [[false, false], 2]);
});

test("a node does not start with a file that is no list of nodes", () => {
  const { path, write } = fileOf("broken.json");
  const open = () => new AllowedNodesFile(path, SILENT_LOGGER);
  assert.throws(open, { code: "ENGINE_ALLOWED_NODES_FILE" });
  const huge = JSON.stringify({ [A]: "n".repeat(1 << 20) });
  for (const text of ["", "[]", "null", `["${A}"]`, '{"0xaa": ""}', `{"${A}@host:1": ""}`, `{"${A}": 1}`, huge]) {
    write(text);
    assert.throws(open, { code: "ENGINE_ALLOWED_NODES_FILE" }, text.slice(0, 60));
  }
});
