import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { jwtSecretPath } from "./home.ts";
import { createJwtSecret, readJwtSecret } from "./secrets.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "evmint-jwt-"));
});
afterEach(() => rmSync(home, { recursive: true }));

test("createJwtSecret makes 32 bytes only this user can read, once", () => {
  createJwtSecret(home);
  assert.equal(statSync(jwtSecretPath(home)).mode & 0o777, 0o600);
  assert.equal(statSync(join(home, "config")).mode & 0o777, 0o700);
  const first = readJwtSecret(home);
  assert.equal(first.length, 32);
  createJwtSecret(home);
  assert.deepEqual(readJwtSecret(home), first);
  assert.match(readFileSync(jwtSecretPath(home), "utf8"), /^0x[0-9a-f]{64}\n$/);
});

test("readJwtSecret reads hex without prefix too, and nothing of another length", () => {
  createJwtSecret(home);
  writeFileSync(jwtSecretPath(home), "ab".repeat(32));
  assert.deepEqual(readJwtSecret(home), Buffer.alloc(32, 0xab));
  for (const text of ["", "0x", "ab".repeat(31), "ab".repeat(33), "zz".repeat(32)]) {
    writeFileSync(jwtSecretPath(home), text);
    assert.throws(() => readJwtSecret(home), { code: "CONFIG_INVALID" });
  }
});

test("readJwtSecret refuses a file other users can read, and never repeats what it holds", () => {
  createJwtSecret(home);
  chmodSync(jwtSecretPath(home), 0o640);
  assert.throws(() => readJwtSecret(home), { code: "CONFIG_INVALID" });
  chmodSync(jwtSecretPath(home), 0o600);
  writeFileSync(jwtSecretPath(home), `${"cd".repeat(32)}e`);
  assert.throws(
    () => readJwtSecret(home),
    (error: Error) => !error.message.includes("cdcd"),
  );
  rmSync(jwtSecretPath(home));
  assert.throws(() => readJwtSecret(home), { code: "CONFIG_INVALID" });
});
