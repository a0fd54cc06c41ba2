import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { clockStopPath, jwtSecretPath } from "../../config/home.ts";
import { loadConfig } from "../../config/load.ts";
import { createJwtSecret } from "../../config/secrets.ts";
import { openClockStopFile } from "../../consensus/clock-stop-file.ts";
import { doctor } from "../commands/doctor.ts";
import { fakeContext } from "../testing/fake-context.ts";
import { CHECKS } from "./checks.ts";
import type { System } from "./system.ts";

const HEALTHY: System = {
  nodeVersion: "v20.19.0",
  memoryBytes: 8 * 2 ** 30,
  openFilesMax: 1_000_000,
  hasPackage: () => true,
};

const NOW = Date.UTC(2026, 0, 1);

function homeWith(settings: Record<string, string> = {}, dev = false) {
  const home = mkdtempSync(join(tmpdir(), "evmint-doctor-"));
  mkdirSync(join(home, "config"));
  mkdirSync(join(home, "data"));
  writeFileSync(join(home, "config", dev ? "dev-genesis.json" : "genesis.json"), "{}");
  createJwtSecret(home);
  const { config } = loadConfig({ home, dev, flags: settings, environment: {} });
  return { config, [Symbol.dispose]: () => rmSync(home, { recursive: true }) };
}

type Home = ReturnType<typeof homeWith>;

/** `level subject` of everything that is not well. */
function problems({ config }: Home, system: Partial<System> = {}, now = NOW): string[] {
  return CHECKS.flatMap((check) => check(config, { ...HEALTHY, ...system }, () => now))
    .filter(({ level }) => level !== "ok")
    .map(({ level, subject }) => `${level} ${subject}`);
}

test("a healthy home on a healthy machine has no problem", () => {
  using home = homeWith();
  assert.deepEqual(problems(home), []);
});

test("a home without a chain is a fault, and for a dev chain only a warning", () => {
  for (const [dev, found] of [
    [false, ["fault home"]],
    [true, ["warning home"]],
  ] as const) {
    using home = homeWith({ "json-rpc.enable": "false" }, dev);
    rmSync(join(home.config.home, "config", dev ? "dev-genesis.json" : "genesis.json"));
    assert.deepEqual(problems(home), found);
  }
});

test("little memory, few open files and missing packages", () => {
  using home = homeWith();
  assert.deepEqual(problems(home, { memoryBytes: 512 * 2 ** 20 }), ["warning memory"]);
  assert.deepEqual(problems(home, { openFilesMax: 256 }), ["warning open files"]);
  assert.deepEqual(problems(home, { openFilesMax: undefined }), []);
  const missing = (name: string) => ({ hasPackage: (each: string) => each !== name });
  assert.deepEqual(problems(home, missing("lmdb")), ["fault versions"]);
  assert.deepEqual(problems(home, missing("secp256k1")), ["warning versions"]);
  assert.deepEqual(problems(home, missing("libp2p")), []);
  using withPeers = homeWith({ "shh.address": "127.0.0.1:0" });
  assert.deepEqual(problems(withPeers, missing("libp2p")), ["fault versions"]);
});

test("a clock that cannot be right, and one whose jump stopped blocks", () => {
  using home = homeWith();
  assert.deepEqual(problems(home, {}, Date.UTC(2101, 0, 1)), ["fault clock"]);
  openClockStopFile(clockStopPath(home.config.home)).write(NOW);
  assert.deepEqual(problems(home), ["fault clock"]);
});

test("a secret that other users can read", () => {
  using home = homeWith();
  chmodSync(jwtSecretPath(home.config.home), 0o644);
  assert.deepEqual(problems(home), ["fault secrets"]);
});

test("a port that a program listens on is named with the program", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  using home = homeWith({ "json-rpc.enable": "true", "json-rpc.address": `127.0.0.1:${port}` });
  const found = CHECKS.flatMap((check) => check(home.config, HEALTHY, () => NOW));
  server.close();
  const [taken] = found.filter(({ level }) => level !== "ok");
  // Systems that do not show it say that the port is free.
  if (process.platform !== "linux") return;
  assert.equal(taken?.subject, "ports");
  assert.ok(taken?.text.includes(`process ${process.pid}`));
});

test("an engine that is not installed, and settings that give strangers power", () => {
  using engine = homeWith({
    "consensus.engine": "cometbft",
    "cometbft.binary": "/nonexistent/cometbft",
  });
  assert.deepEqual(problems(engine), ["fault engine"]);
  using open = homeWith({ "json-rpc.cors-origins": "*" });
  assert.deepEqual(problems(open), ["warning settings"]);
});

test("the command prints a line for each finding and fails for faults", () => {
  using home = homeWith();
  const healthy = fakeContext();
  doctor(home.config, healthy.context, HEALTHY);
  assert.match(healthy.output.stdout, /^ok +home /);
  chmodSync(jwtSecretPath(home.config.home), 0o644);
  assert.throws(() => doctor(home.config, fakeContext().context, HEALTHY), { code: "CLI_FAILED" });
});
