import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { tokensPath } from "../../node/config/home.ts";
import { loadConfig } from "../../node/config/load.ts";
import { createJwtSecret } from "../../node/config/secrets.ts";
import { revokeTokens, rotateTokenSecret } from "../../node/config/token-file.ts";
import { checkCertificate, checkTokens } from "./access-checks.ts";
import { thisSystem } from "./system.ts";

const NOW = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), "evmint-access-"));
after(() => rmSync(folder, { recursive: true }));

function makeCertificate(name: string) {
  const files = { cert: join(folder, `${name}-cert.pem`), key: join(folder, `${name}-key.pem`) };
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const out = ["-keyout", files.key, "-out", files.cert, "-days", "20", "-subj", "/CN=localhost"];
  const { status } = spawnSync("openssl", ["req", "-x509", ...curve, "-nodes", ...out]);
  return status === 0 ? files : undefined;
}
const pairs = [makeCertificate("one"), makeCertificate("other")];
const skip = pairs.includes(undefined) ? "left out: no openssl to make a certificate with" : false;

function certificateLevels(tls: { readonly cert: string; readonly key: string }, now: number): string[] {
  const flags = { "tls.cert": tls.cert, "tls.key": tls.key };
  const { config } = loadConfig({ home: folder, dev: false, flags, environment: {} });
  return checkCertificate(config, thisSystem(), () => now).map(({ level }) => level);
}

test("a certificate is good, ends soon, has ended, has not begun", { skip }, () => {
  const [pair] = pairs as [NonNullable<(typeof pairs)[0]>];
  const now = Date.now();
  assert.deepEqual(certificateLevels(pair, now), ["ok"]);
  assert.deepEqual(certificateLevels(pair, now + 7 * DAY_MS), ["warning"]);
  assert.deepEqual(certificateLevels(pair, now + 21 * DAY_MS), ["fault"]);
  assert.deepEqual(certificateLevels(pair, now - DAY_MS), ["fault"]);
});

test("a certificate with the key of another, or that is none", { skip }, () => {
  const [one, other] = pairs as [NonNullable<(typeof pairs)[0]>, NonNullable<(typeof pairs)[0]>];
  assert.deepEqual(certificateLevels({ cert: one.cert, key: other.key }, Date.now()), ["fault"]);
  assert.deepEqual(certificateLevels({ cert: one.key, key: one.key }, Date.now()), ["fault"]);
});

function tokenLevels(prepare: (home: string) => void): string[] {
  const home = mkdtempSync(join(folder, "home-"));
  mkdirSync(join(home, "config"));
  createJwtSecret(home);
  prepare(home);
  const { config } = loadConfig({ home, dev: false, flags: {}, environment: {} });
  return checkTokens(config, thisSystem(), () => NOW).map(({ level }) => level);
}

test("files of tokens: as they are made, damaged, with secrets whose grace is over or has no end", () => {
  const nowSeconds = NOW / 1_000;
  const rotated = (graceSeconds: number, at: number) => (home: string) => rotateTokenSecret(home, { graceSeconds }, at);
  assert.deepEqual(
    tokenLevels(() => {}),
    ["ok"],
  );
  assert.deepEqual(
    tokenLevels((home) => revokeTokens(home, { kind: "subject", name: "shop" }, nowSeconds)),
    ["ok"],
  );
  assert.deepEqual(tokenLevels(rotated(3_600, nowSeconds)), ["ok", "ok"]);
  assert.deepEqual(tokenLevels(rotated(3_600, nowSeconds - 7_200)), ["warning"]);
  assert.deepEqual(tokenLevels(rotated(3_600, nowSeconds + 366 * 86_400)), ["warning"]);
  assert.deepEqual(
    tokenLevels((home) => writeFileSync(tokensPath(home), "{}")),
    ["fault"],
  );
});
