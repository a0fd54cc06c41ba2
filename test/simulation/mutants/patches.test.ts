import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ALL_MUTANTS } from "./all-mutants.ts";
import { ESCAPED_MUTANTS } from "./escaped.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const EVERY = [...ALL_MUTANTS, ...ESCAPED_MUTANTS];

test("ALL_MUTANTS and ESCAPED_MUTANTS have names that differ", () => {
  assert.equal(new Set(EVERY.map(({ name }) => name)).size, EVERY.length);
});

for (const { name, patches } of EVERY) {
  test(`each patch of ${name} fits its source once, and changes it`, () => {
    assert.ok(patches.length > 0);
    for (const { file, from, to } of patches) {
      const text = readFileSync(join(ROOT, file), "utf8");
      assert.equal(text.split(from).length, 2, `${file}: ${from}`);
      assert.notEqual(from, to);
      for (const [, path] of to.matchAll(/from "(\.[^"]+)"/g))
        assert.ok(existsSync(join(ROOT, dirname(file), path!)), path);
    }
  });
}
