import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fakeContext } from "../../../test/support/cli/fake-context.ts";
import { openClockStopFile } from "../../consensus/clock-watch.ts";
import { renderGenesis } from "../../node/config/genesis/genesis.ts";
import { clockStopPath, jwtSecretPath } from "../../node/config/home.ts";
import { loadConfig } from "../../node/config/load.ts";
import { createJwtSecret } from "../../node/config/secrets.ts";
import { lockFile } from "../../store/storage/lock.ts";
import { CHECKS, doctor } from "./doctor.ts";
import { programFinding } from "./engine-program.ts";
import { type FileSystem, type System, thisSystem } from "./system.ts";

const ROOMY: FileSystem = { freeBytes: 2 ** 40, freeFiles: 2 ** 20, isRemote: false };

const HEALTHY: System = {
  nodeVersion: "v20.19.0",
  memoryBytes: 8 * 2 ** 30,
  openFilesMax: 1_000_000,
  isClockSynchronised: true,
  fileSystem: () => ROOMY,
  hasPackage: () => true,
  programVersion: () => ({ built: "v0.40.0", printed: "0.39.0" }),
};

const NOW = Date.UTC(2026, 0, 1);

/** On no port: a program may listen on the default ones. */
const NO_PORTS = Object.fromEntries(
  ["json-rpc.address", "json-rpc.ws-address", "cometbft.p2p-address"].map((key) => [key, "127.0.0.1:0"]),
);

function homeWith(settings: Record<string, string> = {}, dev = false) {
  const home = mkdtempSync(join(tmpdir(), "evmint-doctor-"));
  mkdirSync(join(home, "config"));
  mkdirSync(join(home, "data"));
  const genesis = renderGenesis({ chainId: 9000n, timestamp: 1_700_000_000, alloc: new Map() });
  writeFileSync(join(home, "config", dev ? "dev-genesis.json" : "genesis.json"), genesis);
  createJwtSecret(home);
  const { config } = loadConfig({
    home,
    dev,
    flags: { ...NO_PORTS, ...settings },
    environment: {},
  });
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
  const tracer = "@opentelemetry/sdk-trace-base";
  assert.deepEqual(problems(home, missing(tracer)), []);
  using traced = homeWith({ "tracing.endpoint": "http://127.0.0.1:4318/v1/traces" });
  assert.deepEqual(problems(traced, missing(tracer)), ["fault versions"]);
});

test("a clock that cannot be right, and one whose jump stopped blocks", () => {
  using home = homeWith();
  assert.deepEqual(problems(home, {}, Date.UTC(2101, 0, 1)), ["fault clock"]);
  openClockStopFile(clockStopPath(home.config.home)).write(NOW);
  assert.deepEqual(problems(home), ["fault clock"]);
});

test("a clock that nothing keeps right", () => {
  using home = homeWith();
  assert.deepEqual(problems(home, { isClockSynchronised: false }), ["warning clock"]);
  assert.deepEqual(problems(home, { isClockSynchronised: undefined }), []);
});

test("a disk without room, without room for files, and one of another machine", () => {
  using home = homeWith();
  const on = (disk: Partial<FileSystem>) => problems(home, { fileSystem: () => ({ ...ROOMY, ...disk }) });
  assert.deepEqual(on({ freeBytes: 2 ** 31 }), ["warning disk"]);
  assert.deepEqual(on({ freeBytes: 2 ** 20 }), ["fault disk"]);
  assert.deepEqual(on({ freeFiles: 10 }), ["fault disk"]);
  assert.deepEqual(on({ freeFiles: undefined }), []);
  assert.deepEqual(on({ isRemote: true }), ["fault disk"]);
});

test("a secret that other users can read, of whatever kind", () => {
  const files = [
    "config/jwt.hex",
    "config/node-key.hex",
    "shh/identities",
    "keystore/key",
    "hdwallets/w",
    "cometbft/config/priv_validator_key.json",
    "cometbft/config/node_key.json",
    "tls/key.pem",
  ];
  for (const secret of files) {
    using home = homeWith({ "tls.cert": "tls/cert.pem", "tls.key": "tls/key.pem" });
    const path = join(home.config.home, secret);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "secret");
    const secrets = () => problems(home).filter((each) => each.endsWith("secrets"));
    chmodSync(path, 0o600);
    assert.deepEqual(secrets(), [], secret);
    chmodSync(path, 0o640);
    assert.deepEqual(secrets(), ["fault secrets"], secret);
  }
});

test("the port of CometBFT is looked at where it is the engine", () => {
  const keys = ["cometbft.p2p-address"];
  using solo = homeWith({ "json-rpc.enable": "false" });
  using network = homeWith({ "json-rpc.enable": "false", "consensus.engine": "cometbft" });
  const looked = ({ config }: Home) =>
    CHECKS.flatMap((check) => check(config, HEALTHY, () => NOW))
      .filter(({ subject }) => subject === "ports")
      .map(({ text }) => text.split(" ")[0]);
  assert.deepEqual(looked(solo), []);
  assert.deepEqual(looked(network), keys);
});

test("a port of the node that runs on the home is no warning, whichever of its processes listens", {
  skip: process.platform !== "linux" && "only Linux shows who listens",
}, async () => {
  const program =
    'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => console.log(s.address().port))';
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = await once(child.stdout, "data");
    using home = homeWith({ "json-rpc.enable": "true", "json-rpc.address": `127.0.0.1:${Number(line)}` });
    assert.deepEqual(problems(home), ["warning ports"]);
    const lock = lockFile(join(home.config.home, "data", "lock"));
    assert.deepEqual(problems(home), []);
    lock.release();
    assert.deepEqual(problems(home), ["warning ports"]);
  } finally {
    child.kill("SIGKILL");
  }
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

test("the program of CometBFT is the one that this node is built for", () => {
  const level = (built: string | undefined, printed: string | undefined) =>
    programFinding("/cometbft", { built, printed }).level;
  assert.equal(level("v0.40.0", "0.39.0"), "ok");
  assert.equal(level("v0.38.17", "0.38.17"), "fault");
  assert.equal(level("v0.40.1", "0.39.1"), "warning");
  assert.equal(level("v1.0.1", "1.0.1"), "fault");
  assert.equal(level(undefined, "0.39.0"), "ok");
  assert.equal(level("(devel)", "0.39.0"), "ok");
  assert.equal(level(undefined, "0.38.17"), "warning");
  assert.equal(level("v0.40.0", undefined), "fault");
});

test("what a program was built of is read out of its file", () => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-program-"));
  const path = join(folder, "cometbft");
  writeFileSync(path, "#!/bin/sh\necho 0.39.0\nexit 0\n# mod\tgithub.com/cometbft/cometbft\tv0.40.0\th1:x=\n");
  chmodSync(path, 0o700);
  assert.deepEqual(thisSystem().programVersion(path), { built: "v0.40.0", printed: "0.39.0" });
  writeFileSync(path, "#!/bin/sh\nexit 3\n");
  assert.deepEqual(thisSystem().programVersion(path), { built: undefined, printed: undefined });
  rmSync(folder, { recursive: true });
});

test("the command prints a line for each finding and fails for faults", async () => {
  using home = homeWith();
  const healthy = fakeContext();
  const options = { peers: [] };
  await doctor(home.config, healthy.context, options, HEALTHY);
  assert.match(healthy.output.stdout, /^ok +home /);
  chmodSync(jwtSecretPath(home.config.home), 0o644);
  await assert.rejects(doctor(home.config, fakeContext().context, options, HEALTHY), { code: "CLI_FAILED" });
});

test("a peer that is no URL is an error of use", async () => {
  using home = homeWith();
  for (const url of ["node-1", "ws://127.0.0.1:1"]) {
    await assert.rejects(doctor(home.config, fakeContext().context, { peers: [url] }, HEALTHY), { code: "CLI_USAGE" });
  }
});
