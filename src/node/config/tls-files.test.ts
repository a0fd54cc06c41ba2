import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { makeCertificate, NO_OPENSSL } from "../../../test/support/certificates.ts";
import { SILENT_LOGGER } from "../../base/telemetry/logger.ts";
import { openTlsFiles } from "./tls-files.ts";

const home = mkdtempSync(join(tmpdir(), "evmint-tls-files-"));
after(() => rmSync(home, { recursive: true }));
const skip = NO_OPENSSL;
const [first, second, third] = skip ? [] : ["first", "second", "third"].map((name) => makeCertificate(home, name));
const tls = { cert: "cert.pem", key: "key.pem", clientCa: "" };

function open(options: { readonly clientCa?: string } = {}, now = Date.now) {
  copyFileSync(first!.cert, join(home, "cert.pem"));
  copyFileSync(first!.key, join(home, "key.pem"));
  const errors: unknown[] = [];
  const warnings: unknown[] = [];
  const log = {
    ...SILENT_LOGGER,
    error: (_text: string, data?: object) => void errors.push(data),
    warn: (_text: string, data?: object) => void warnings.push(data),
  };
  const timers = new ManualTimers();
  const files = openTlsFiles({ home, tls: { ...tls, ...options } }, { log, timers, now })!;
  const changes: string[] = [];
  files.onChange(({ cert }) => changes.push(cert));
  const look = () => timers.advanceSync(1_000);
  return { files, errors, warnings, changes, look };
}

test("a certificate that has expired is warned of, at the start and where it is read again, and is used", {
  skip,
}, () => {
  const inThreeDays = () => Date.now() + 3 * 86_400_000;
  const { files, warnings, changes, look } = open({}, inThreeDays);
  const expired = new Date(files.expiry * 1_000).toISOString();
  assert.deepEqual(warnings, [{ file: "cert.pem", expired }]);
  copyFileSync(second!.cert, join(home, "cert.pem"));
  copyFileSync(second!.key, join(home, "key.pem"));
  look();
  assert.equal(warnings.length, 2);
  assert.deepEqual(changes, [readFileSync(second!.cert, "utf8")]);
  files.close();
  const { files: good, warnings: none } = open();
  assert.deepEqual(none, []);
  good.close();
});

test("a file made in the home does not have the pair read again where there is no tls.client-ca", { skip }, () => {
  const { files, changes, look } = open();
  writeFileSync(join(home, "another"), "");
  look();
  assert.deepEqual(changes, []);
  files.close();
});

test("a pair that is replaced file by file is taken once it is whole, without an error", { skip }, () => {
  const { files, errors, changes, look } = open();
  assert.equal(files.material.cert, readFileSync(first!.cert, "utf8"));
  copyFileSync(second!.cert, join(home, "cert.pem"));
  look();
  assert.deepEqual([changes, errors], [[], []]);
  copyFileSync(second!.key, join(home, "key.pem"));
  look();
  look();
  assert.deepEqual([changes, errors], [[readFileSync(second!.cert, "utf8")], []]);
  assert.equal(files.material.key, readFileSync(second!.key, "utf8"));
  files.close();
});

test("files that are damaged, gone or of different keys change nothing, and are logged once each", { skip }, () => {
  const whole = readFileSync(first!.cert, "utf8");
  const damage: Readonly<Record<string, () => void>> = {
    "no certificate": () => writeFileSync(join(home, "cert.pem"), "nonsense"),
    "half a certificate": () => writeFileSync(join(home, "cert.pem"), whole.slice(0, whole.length / 2)),
    "a damaged certificate": () =>
      writeFileSync(join(home, "cert.pem"), whole.replace(/\n[A-Za-z0-9]{8}/, "\nAAAAAAAA")),
    "no key": () => writeFileSync(join(home, "key.pem"), ""),
    "the key of another": () => copyFileSync(second!.key, join(home, "key.pem")),
    "a certificate of another key": () => copyFileSync(second!.cert, join(home, "cert.pem")),
    "a key that is gone": () => rmSync(join(home, "key.pem")),
    "a bundle of nothing": () => writeFileSync(join(home, "ca.pem"), "# none\n"),
    "a bundle whose second certificate is cut off": () =>
      writeFileSync(join(home, "ca.pem"), whole + whole.slice(0, 99)),
  };
  for (const [name, spoil] of Object.entries(damage)) {
    copyFileSync(third!.cert, join(home, "ca.pem"));
    const { files, errors, changes, look } = open({ clientCa: "ca.pem" });
    const { material } = files;
    spoil();
    for (let looks = 0; looks < 3; looks++) look();
    assert.deepEqual([changes, errors.length, files.material], [[], 1, material], name);
    assert.equal((errors[0] as { readonly error: { readonly code: string } }).error.code, "CONFIG_INVALID", name);
    files.close();
  }
});

test("a node does not start with certificates for clients and none of its own", { skip }, () => {
  copyFileSync(third!.cert, join(home, "ca.pem"));
  const config = { home, tls: { cert: "", key: "", clientCa: "ca.pem" } };
  assert.throws(() => openTlsFiles(config, { log: SILENT_LOGGER, timers: new ManualTimers() }), {
    code: "CONFIG_INVALID",
  });
});
