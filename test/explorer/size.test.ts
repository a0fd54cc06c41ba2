import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { deepProof } from "../../bench/explorer/deep-proof.ts";
import { provenAccount } from "../../src/web/explorer/verify/account.ts";
import { PAGES_FOLDER, readPageTable } from "../../src/web/pages/answer-page.ts";

const GZIP_BYTES_MAX = 200 * 1024;

test("the explorer has 200 KB gzip at most, and a document, a script and a style", () => {
  const table = readPageTable(["explorer"]);
  assert.ok(table, "the pages are built");
  const sizes = [...table.values()].map(({ file }) => statSync(new URL(file, PAGES_FOLDER)).size);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(total < GZIP_BYTES_MAX, `${total} bytes`);
  const types = new Set([...table.values()].map(({ type }) => type.split(";")[0]));
  assert.deepEqual(types, new Set(["text/html", "text/javascript", "text/css"]));
});

test("the explorer's scripts use no WebAssembly, which its policy forbids", () => {
  const scripts = [...readPageTable(["explorer"])!.values()].filter(({ type }) => type.startsWith("text/javascript"));
  assert.ok(scripts.length > 5);
  for (const { file, isGzipped } of scripts) {
    const stored = readFileSync(new URL(file, PAGES_FOLDER));
    const text = (isGzipped ? gunzipSync(stored) : stored).toString();
    assert.ok(/\b(?:import|export|function)\b|=>/.test(text) && !text.includes("WebAssembly"), file);
  }
});

test("the benchmark's proof of ten levels is one of its account", () => {
  const { address, stateRoot, answer } = deepProof(10);
  assert.equal((answer["accountProof"] as readonly string[]).length, 10);
  const { nonce, balance } = provenAccount(stateRoot, address, answer);
  assert.deepEqual([nonce, balance], [7n, 10n ** 18n]);
});
