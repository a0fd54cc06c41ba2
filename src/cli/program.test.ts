import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, mock, test } from "node:test";
import { ManualTimers } from "../../test/support/base/telemetry/manual-timers.ts";
import { fakeContext, fakeNode } from "../../test/support/cli/fake-context.ts";
import { CONSOLIDATION_REQUEST_ADDRESS, WITHDRAWAL_REQUEST_ADDRESS } from "../base/params/gas.ts";
import { parseGenesis } from "../base/params/genesis.ts";
import { fatalTimers } from "../base/telemetry/fatal-timers.ts";
import type { Timers } from "../base/telemetry/timers.ts";
import type { Config } from "../node/config/config.ts";
import { DEV_FLAG_OPTIONS } from "../node/config/dev-flags.ts";
import { renderGenesis } from "../node/config/genesis/genesis.ts";
import { loadConfig } from "../node/config/load.ts";
import { packageVersion } from "../node/config/package.ts";
import { environmentName, OPTIONS } from "../node/config/schema.ts";
import { DEV_ACCOUNTS } from "../node/keystore/dev-accounts.ts";
import type { NodeOperations, RunningNode } from "../node/roles/types.ts";
import { runCli } from "./program.ts";

const alice = DEV_ACCOUNTS[0]!;

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "evmint-cli-"));
});
afterEach(() => rmSync(home, { recursive: true }));

test("start: a signal ends a start that waits for the network", async () => {
  const timers = new ManualTimers();
  let isStarting: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    isStarting = resolve;
  });
  const world = fakeContext({
    timers,
    operations: {
      startNode() {
        isStarting();
        return new Promise(() => {});
      },
    },
  });
  void runCli(["start", "--dev", "--home", home], world.context);
  await begun;
  world.signal("SIGTERM");
  await timers.scheduled("stop of a start");
  await timers.advance(1_999);
  assert.deepEqual(world.exits, []);
  await timers.advance(1);
  assert.deepEqual(world.exits, [143]);
});

async function run(args: string[], options: Parameters<typeof fakeContext>[0] = {}) {
  const world = fakeContext(options);
  const code = await runCli([...args, "--home", home], world.context);
  return { code, ...world.output };
}

/** Starts a dev node that is the given one; resolves once its banner is out. */
async function startDev(node: RunningNode, args: string[] = [], timers: Timers = fatalTimers) {
  const started: Config[] = [];
  const world = fakeContext({
    timers,
    operations: {
      async startNode(config: Config) {
        started.push(config);
        return node;
      },
    },
  });
  const exit = runCli(["start", "--dev", "--home", home, ...args], world.context);
  while (world.output.stdout === "" && world.listening() >= 0 && started.length === 0) {
    await new Promise(setImmediate);
  }
  await new Promise(setImmediate);
  return { ...world, exit, config: started[0]! };
}

test("start runs a node until SIGTERM, stops it and exits with 0", async () => {
  const stop = mock.fn(async () => {});
  const node = await startDev(fakeNode({ stop }), ["--json-rpc.address", "127.0.0.1:9545"]);
  assert.equal(node.config.jsonRpc.address.port, 9545);
  assert.equal(node.config.home, home);
  assert.ok(node.output.stdout.includes(alice.privateKey));
  assert.equal(stop.mock.callCount(), 0);
  node.signal();
  assert.equal(await node.exit, 0);
  assert.equal(stop.mock.callCount(), 1);
  assert.equal(node.listening(), 0);
});

test("a node whose log is JSON prints its addresses as a line of JSON, and no keys", async () => {
  const node = await startDev(fakeNode(), ["--log.format", "json"]);
  node.signal();
  assert.equal(await node.exit, 0);
  const lines = `${node.output.stdout}${node.output.stderr}`.trimEnd().split("\n");
  const [first] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const listening = fakeNode().listeners.map(({ kind, url }) => ({ kind, url }));
  assert.deepEqual(first!["listening"], listening);
  assert.ok(!node.output.stdout.includes(alice.privateKey));
});

test("start ends at once on the second signal", async () => {
  const node = await startDev(fakeNode({ stop: () => new Promise(() => {}) }));
  node.signal("SIGINT");
  assert.deepEqual(node.exits, []);
  node.signal("SIGINT");
  node.signal("SIGTERM");
  assert.deepEqual(node.exits, [130, 143]);
});

test("start fails with one line when the node fails, and stops what is left of it", async () => {
  const stop = mock.fn(async () => {});
  const failure = Promise.resolve(new Error("disk gone\nwith detail"));
  const node = await startDev(fakeNode({ stop, failure }));
  assert.equal(await node.exit, 1);
  assert.equal(stop.mock.callCount(), 1);
  assert.ok(node.output.stderr.endsWith("evmintd: disk gone\n"));
});

test("start gives up on a node that does not stop in five seconds", async () => {
  const timers = new ManualTimers();
  const node = await startDev(fakeNode({ stop: () => new Promise(() => {}) }), [], timers);
  node.signal();
  assert.equal((await timers.scheduled("stop")).inMs, 5_000);
  await timers.advance(5_000);
  assert.equal(await node.exit, 1);
});

test("start explains an address in use, and shows a stack only when asked to", async () => {
  const startNode = async () => {
    throw Object.assign(new Error("listen EADDRINUSE: 127.0.0.1:8545"), { code: "EADDRINUSE" });
  };
  const plain = await run(["start", "--dev"], { operations: { startNode } });
  assert.equal(plain.code, 1);
  assert.equal(plain.stderr.trim().split("\n").length, 1);
  const verbose = await run(["start", "--dev", "--log.level", "debug"], {
    operations: { startNode },
  });
  assert.ok(verbose.stderr.includes("program.test"));
});

test("start refuses a home of the other kind, and unlocked accounts on a network", async () => {
  assert.equal((await run(["start"])).code, 1);
  assert.equal((await run(["init"])).code, 0);
  assert.equal((await run(["start", "--dev"])).code, 1);
  const open = await run(["start", "--dev", "--json-rpc.address", "0.0.0.0:8545"]);
  assert.equal(open.code, 2);
});

test("init makes a home that loads, and never touches one that is there", async () => {
  const made = await run(["init", "--chain-id", "4242", "--fund", alice.address]);
  assert.equal(made.code, 0);
  const genesisFile = join(home, "config/genesis.json");
  const text = readFileSync(genesisFile, "utf8");
  const genesis = parseGenesis(text);
  assert.equal(genesis.config.chainId, 4242n);
  assert.equal(genesis.timestamp, 1_700_000_000);
  assert.equal(genesis.alloc.get(alice.address)?.balance, 10n ** 24n);
  assert.equal(statSync(join(home, "config/jwt.hex")).mode & 0o777, 0o600);
  assert.match(readFileSync(join(home, "config/jwt.hex"), "utf8"), /^0x[0-9a-f]{64}\n$/);
  assert.equal(statSync(join(home, "config")).mode & 0o777, 0o700);
  assert.equal(statSync(join(home, "keystore")).mode & 0o777, 0o700);

  const again = await run(["init", "--chain-id", "1"]);
  assert.equal(again.code, 1);
  assert.equal(readFileSync(genesisFile, "utf8"), text);

  const { stdout } = await run(["config", "show", "--origin"]);
  assert.match(stdout, /^json-rpc\.enable = true +# .*app\.toml$/m);
});

test("init without a chain id makes chain 9000", async () => {
  await run(["init"]);
  const genesis = parseGenesis(readFileSync(join(home, "config/genesis.json"), "utf8"));
  assert.equal(genesis.config.chainId, 9000n);
});

test("init takes a geth genesis as it is, keeps an app.toml of yours, and writes nothing when it fails", async () => {
  const file = join(home, "geth.json");
  const text = '{"config":{"chainId":7},"difficulty":"0x1","gasLimit":"0x2","alloc":{}}';
  writeFileSync(file, text);
  mkdirSync(join(home, "config"));
  writeFileSync(join(home, "config/app.toml"), "# mine\n");
  assert.equal((await run(["init", "--genesis", file, "--chain-id", "8"])).code, 2);
  writeFileSync(file, '{"config":{}}');
  assert.equal((await run(["init", "--genesis", file])).code, 1);
  assert.equal((await run(["init", "--genesis", join(home, "absent")])).code, 2);
  assert.equal((await run(["init", "--chain-id", "0x10"])).code, 2);
  assert.ok(!existsSync(join(home, "config/genesis.json")));
  writeFileSync(file, text);
  assert.equal((await run(["init", "--genesis", file])).code, 0);
  assert.equal(readFileSync(join(home, "config/genesis.json"), "utf8"), text);
  assert.equal(readFileSync(join(home, "config/app.toml"), "utf8"), "# mine\n");
});

test("init rejects a genesis of whose blocks none is valid, for want of contracts, and warns where they can still be deployed", async () => {
  const file = join(home, "geth.json");
  const initWithout = async (addresses: readonly string[], config: object = {}) => {
    const genesis = JSON.parse(renderGenesis({ chainId: 7n, timestamp: 1, alloc: new Map() }));
    Object.assign(genesis.config, config);
    for (const address of addresses) delete genesis.alloc[address];
    rmSync(join(home, "config"), { recursive: true, force: true });
    writeFileSync(file, JSON.stringify(genesis));
    const { code, stderr } = await run(["init", "--genesis", file]);
    return { code, lines: stderr.split("\n").filter(Boolean) };
  };
  const queues = [WITHDRAWAL_REQUEST_ADDRESS, CONSOLIDATION_REQUEST_ADDRESS];
  assert.deepEqual(await initWithout([]), { code: 0, lines: [] });
  for (const missing of [queues, queues.slice(1)]) {
    const { code, lines } = await initWithout(missing);
    assert.equal(code, 1);
    assert.match(lines[0]!, new RegExp(`alloc\\.${missing[0]}: no code \\(EIP-`, "i"));
    assert.equal(existsSync(join(home, "config")), false);
  }
  const later = await initWithout(queues, { pragueTime: 2, osakaTime: 3 });
  assert.equal(later.code, 0);
  assert.equal(later.lines.length, 2);
  assert.deepEqual(await initWithout(queues, { pragueTime: undefined, osakaTime: undefined }), { code: 0, lines: [] });
});

test("errors of use exit with 2: unknown commands, flags, keys and values", async () => {
  for (const args of [
    ["strat"],
    ["start", "--json-rpc.adress", "127.0.0.1:1"],
    ["start", "--json-rpc.address"],
    ["start", "--json-rpc.address", "nowhere"],
    ["start", "stray"],
    ["import"],
    ["import", "/nonexistent/file"],
    ["rollback", "many"],
    ["rollback", "0"],
    ["rollback", "1", "--to", "3"],
    ["rollback", "--to", "0x3"],
    ["rollback", "--from-peers"],
    ["export", "f", "9", "3"],
    ["keys", "delete", "nobody"],
  ]) {
    assert.equal((await run(args)).code, 2, args.join(" "));
  }
  const environment = { EVMINT_JSON_RPC_ADRESS: "x" };
  const { code, stderr } = await run(["config", "show"], { environment });
  assert.equal(code, 2);
  assert.ok(stderr.includes("EVMINT_JSON_RPC_ADDRESS"));
});

test("every setting is a flag of start and a line of config show", async () => {
  const { stdout } = await run(["config", "show", "--origin"]);
  const help = (await run(["start", "--help-all"])).stdout;
  for (const { key } of OPTIONS) {
    assert.ok(stdout.includes(`\n${key} = `) || stdout.startsWith(`${key} = `), key);
    assert.ok(help.includes(`--${key} `), key);
  }
  for (const { key } of DEV_FLAG_OPTIONS) assert.ok(help.includes(`--${key} `), key);
  const environment = { [environmentName("log.level")]: "warn", EVMINT_HOME: "/elsewhere" };
  const flagged = await run(["config", "show", "--origin", "--json-rpc.enable"], { environment });
  assert.match(flagged.stdout, /^log\.level = "warn" +# environment EVMINT_LOG_LEVEL$/m);
  assert.match(flagged.stdout, /^json-rpc\.enable = true +# --json-rpc\.enable$/m);
  assert.match(flagged.stdout, /^json-rpc\.gas-cap = 50000000 +# default$/m);
});

test("import reports progress as JSON lines and its result on standard output", async () => {
  const file = join(home, "chain.rlp");
  writeFileSync(file, "");
  const importChain: NodeOperations["importChain"] = async (_config, _log, options) => {
    assert.equal(options.file, file);
    options.onProgress({ done: 1, total: 4, unit: "bytes" });
    options.onProgress({ done: 4, total: 4, unit: "bytes" });
    return { imported: 3, skipped: 1, head: 4 };
  };
  const { code, stdout, stderr } = await run(["import", file], { operations: { importChain } });
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), { imported: 3, skipped: 1, head: 4 });
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ progress, done }) => [progress, done]),
    [
      ["import", 1],
      ["import", 4],
    ],
  );
});

test("export stops between blocks when interrupted, and never replaces a file", async () => {
  const file = join(home, "out.rlp");
  const world = fakeContext({
    operations: {
      async exportChain(_config, _log, { signal, first, last }) {
        assert.deepEqual([first, last], [1, 9]);
        world.signal("SIGINT");
        assert.ok(signal.aborted);
        return { exported: 2 };
      },
    },
  });
  assert.equal(await runCli(["export", file, "1", "9", "--home", home], world.context), 130);
  writeFileSync(file, "");
  assert.equal((await run(["export", file])).code, 2);
});

test("db check fails when the store has faults", async () => {
  const checkStore = (faults: string[]) => async () => ({ head: 7, faults });
  const good = await run(["db", "check"], { operations: { checkStore: checkStore([]) } });
  assert.equal(good.code, 0);
  const bad = await run(["db", "check"], { operations: { checkStore: checkStore(["x"]) } });
  assert.equal(bad.code, 1);
  assert.deepEqual(JSON.parse(bad.stdout), { head: 7, faults: ["x"] });
  const asked: unknown[] = [];
  const operations = {
    checkStore: async (_config: unknown, _log: unknown, { from }: { readonly from?: number | undefined }) => {
      asked.push(from);
      return { head: 7, faults: [] };
    },
  };
  assert.equal((await run(["db", "check", "--from", "5"], { operations })).code, 0);
  assert.equal((await run(["db", "check", "--from", "x"], { operations })).code, 2);
  assert.deepEqual(asked, [5]);
});

test("keys: new, list, import, export, change-password and delete, passphrases from standard input or a file", async () => {
  const light = ["--keystore.strength", "light"];
  const made = await run(["keys", "new", ...light], { stdin: "first\n" });
  assert.equal(made.code, 0);
  const address = made.stdout.trim();
  assert.match(address, /^0x[0-9a-fA-F]{40}$/);

  const raw = join(home, "raw");
  writeFileSync(raw, `${alice.privateKey}\n`);
  const passphrases = join(home, "passphrases");
  writeFileSync(passphrases, "second\r\n");
  const imported = await run(["keys", "import", raw, "--passphrase-file", passphrases, ...light]);
  assert.equal(imported.stdout.trim().toLowerCase(), alice.address);
  const listed = (await run(["keys", "list"])).stdout;
  assert.equal(listed.trim().split("\n").length, 2);

  const changed = await run(["keys", "change-password", alice.address, ...light], {
    stdin: "second\nthird",
  });
  assert.equal(changed.code, 0);
  const old = await run(["keys", "export", alice.address, "--raw"], { stdin: "second\n" });
  assert.equal(old.code, 1);
  const exported = await run(["keys", "export", alice.address, "--raw"], { stdin: "third\n" });
  assert.equal(exported.stdout.trim(), alice.privateKey);

  const file = await run(["keys", "export", address, ...light], { stdin: "first\nother\n" });
  const copy = join(home, "copy.json");
  writeFileSync(copy, file.stdout);
  assert.equal((await run(["keys", "delete", address], { stdin: "first\n" })).code, 0);
  const back = await run(["keys", "import", copy, ...light], { stdin: "other\nlast\n" });
  assert.equal(back.stdout.trim(), address);
  assert.equal((await run(["keys", "new", ...light], { stdin: "" })).code, 0);
  assert.equal((await run(["keys", "export", address], { stdin: "last" })).code, 2);
});

test("keys never repeats a secret it was given in the wrong place", async () => {
  const asArgument = await run(["keys", "import", alice.privateKey]);
  assert.equal(asArgument.code, 2);
  const broken = join(home, "broken");
  writeFileSync(broken, `{"${alice.privateKey}`);
  const asFile = await run(["keys", "import", broken, "--log.level", "trace"], {
    stdin: "hunter2\nhunter2\n",
  });
  assert.equal(asFile.code, 1);
  for (const { stdout, stderr } of [asArgument, asFile]) {
    assert.ok(!`${stdout}${stderr}`.includes(alice.privateKey.slice(2, 20)));
    assert.ok(!`${stdout}${stderr}`.includes("hunter2"));
  }
});

test("start --help fits a screen, and --help-all shows every setting", async () => {
  const { code, stdout } = await run(["start", "--help"]);
  assert.equal(code, 0);
  assert.ok(stdout.trimEnd().split("\n").length <= 46);
  assert.ok(stdout.includes("--help-all"));
});

test("--version prints the version", async () => {
  const world = fakeContext();
  assert.equal(await runCli(["--version"], world.context), 0);
  assert.equal(world.output.stdout, `evmintd ${packageVersion()}\n`);
});

test("an unknown flag names the nearest that exists, by its last part too", async () => {
  for (const [flag, nearest] of [
    ["--api", "--json-rpc.api"],
    ["--log.levl", "--log.level"],
    ["--acounts", "--accounts"],
    ["--json-rpc.ws-message-limit", "--json-rpc.body-limit takes its place"],
    ["--json-rpc.id-limit", "the limit is fixed"],
    ["--dev.accounts", "use --accounts at each start"],
  ] as const) {
    const { code, stderr } = await run(["start", "--dev", flag, "x"]);
    assert.equal(code, 2);
    assert.ok(stderr.includes(nearest), stderr);
  }
});

test("start --dev takes the port and block 0 by short flags", async () => {
  const flags = ["--port", "9545", "--chain-id", "7", "--accounts", "3", "--predeploys", "none", "--in-memory"];
  flags.push("--timestamp", "2026-01-31");
  const node = await startDev(fakeNode(), flags);
  node.signal();
  await node.exit;
  const { jsonRpc, devChain } = node.config;
  assert.deepEqual(jsonRpc.address, { host: "127.0.0.1", port: 9545 });
  assert.deepEqual(jsonRpc.wsAddress, { host: "127.0.0.1", port: 9546 });
  const plain = loadConfig({ home: "/nonexistent", dev: true, flags: {}, environment: {} }).config.devChain;
  const given = { chainId: 7, accounts: 3, timestamp: 1_769_817_600, predeploys: ["none"], inMemory: true };
  assert.deepEqual(devChain, { ...plain, ...given });
  for (const args of [
    ["start", "--dev", "--port", "65535"],
    ["start", "--dev", "--port", "x"],
    ["start", "--dev", "--accounts", "0"],
    ["start", "--chain-id", "7"],
  ]) {
    assert.equal((await run(args)).code, 2, args.join(" "));
  }
});

test("start --dev takes anvil's flags, and says why it does not", async () => {
  const flags = ["--balance", "5", "--no-mining", "--ipc", "/tmp/x.ipc", "--host", "::1", "-s", "7", "--in-memory"];
  flags.push(
    "--fork-header",
    "a: b, c",
    "--fork-header",
    "d: e",
    "--fork-url",
    "http://127.0.0.1:1",
    "--mnemonic-seed-unsafe",
    "0",
  );
  const node = await startDev(fakeNode(), flags);
  node.signal();
  await node.exit;
  const { jsonRpc, devChain, consensus, ipc } = node.config;
  assert.deepEqual(jsonRpc.address, { host: "::1", port: 8545 });
  assert.equal(devChain.balance, 5n * 10n ** 18n);
  assert.equal(devChain.stateIntervalMs, 7_000);
  assert.equal(devChain.mnemonic, "leisure need topic clown code attend earn lounge baby omit vault crunch");
  assert.deepEqual(devChain.forkHeaders, [
    ["a", "b, c"],
    ["d", "e"],
  ]);
  assert.equal(consensus.blockTime, "manual");
  assert.equal(ipc.path, "/tmp/x.ipc");
  for (const args of [
    ["start", "--balance", "5"],
    ["start", "--dev", "--balance", "x"],
    ["start", "--dev", "--number", "5"],
    ["start", "--dev", "--no-mining", "--block-time", "1"],
    ["start", "--dev", "--fork-timeout", "5"],
    ["start", "--dev", "--retries", "5"],
    ["start", "--dev", "--host", "0.0.0.0", "--in-memory"],
  ]) {
    assert.equal((await run(args)).code, 2, args.join(" "));
  }
});

test("a home that is a file is an error of use", async () => {
  const file = join(home, "file");
  writeFileSync(file, "");
  const world = fakeContext();
  assert.equal(await runCli(["start", "--dev", "--home", file], world.context), 2);
});

test("start without --dev says so on a home that holds a dev chain", async () => {
  mkdirSync(join(home, "data"));
  const { code, stderr } = await run(["start"]);
  assert.equal(code, 1);
  assert.ok(stderr.includes("--dev"));
});

test("init writes WebSocket on loopback, and prints a start command that works for its home", async () => {
  const { stdout } = await run(["init"]);
  assert.ok(stdout.includes(`evmintd start --home ${home}\n`));
  const shown = await run(["config", "show", "--origin"]);
  assert.match(shown.stdout, /^json-rpc\.ws-address = "127\.0\.0\.1:8546" +# .*app\.toml$/m);
});

test("init recognises the genesis of a Cosmos chain, and names line and column of a JSON fault", async () => {
  const file = join(home, "g.json");
  const failing = async (text: string) => {
    writeFileSync(file, text);
    const { code, stderr } = await run(["init", "--genesis", file]);
    assert.equal(code, 1);
    return stderr;
  };
  assert.match(await failing('{"genesis_time":"x","app_state":{}}'), /Cosmos/);
  assert.match(await failing('{\n  "config": {,\n}'), /line 2, column 14/);
});

test("a fault in app.toml is named by line and column", async () => {
  mkdirSync(join(home, "config"));
  writeFileSync(join(home, "config/app.toml"), "[log]\nlevel = = 3\n");
  const { code, stderr } = await run(["config", "show"]);
  assert.equal(code, 2);
  assert.match(stderr, /app\.toml:2:\d+:/);
});
