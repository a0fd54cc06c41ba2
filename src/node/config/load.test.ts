import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { parse as parseToml } from "smol-toml";
import { renderAppToml, setInAppToml } from "./app-toml.ts";
import { LIMITS } from "./config.ts";
import { processesFor, speculationThreadsFor, workersFor } from "./defaults.ts";
import { DEV_FLAG_OPTIONS } from "./dev-flags.ts";
import { appTomlPath } from "./home.ts";
import { type ConfigSources, loadConfig } from "./load.ts";
import { environmentName, OPTIONS } from "./schema.ts";
import { FOREIGN_KEYS, FOREIGN_WITHOUT_KEY, REMOVED_KEYS, REPLACED_KEYS } from "./unknown-keys.ts";

const home = mkdtempSync(join(tmpdir(), "evmint-config-"));
after(() => rmSync(home, { recursive: true }));

function writeAppToml(text: string): void {
  mkdirSync(dirname(appTomlPath(home)), { recursive: true });
  writeFileSync(appTomlPath(home), text);
}

function load(sources: Partial<ConfigSources> = {}, appToml = "") {
  writeAppToml(appToml);
  return loadConfig({ home, dev: false, flags: {}, environment: {}, ...sources });
}

test("loadConfig: a flag outranks the environment, that the file, that --dev, that the default", () => {
  const key = "json-rpc.ws-address";
  const toml = '[json-rpc]\nws-address = "127.0.0.1:3"';
  const environment = { EVMINT_JSON_RPC_WS_ADDRESS: "127.0.0.1:2" };
  const flags = { [key]: "127.0.0.1:1" };
  const cases = [
    [load({ flags, environment, dev: true }, toml), 1, "--json-rpc.ws-address"],
    [load({ environment, dev: true }, toml), 2, "environment EVMINT_JSON_RPC_WS_ADDRESS"],
    [load({ dev: true }, toml), 3, join(home, "config", "app.toml")],
    [load({ dev: true }), 8546, "--dev"],
    [load(), 8546, "default"],
  ] as const;
  for (const [{ config, origins }, port, origin] of cases) {
    assert.equal(config.jsonRpc.wsAddress.port, port);
    assert.equal(origins.get(key), origin);
    assert.equal(origins.size, OPTIONS.length);
  }
  assert.equal(cases[3][0].config.jsonRpc.wsAddress.host, "127.0.0.1");
  assert.equal(cases[4][0].config.jsonRpc.wsAddress.host, "0.0.0.0");
});

test("loadConfig reads each kind of value from its natural TOML and from text", () => {
  const { config } = load(
    {
      flags: {
        "json-rpc.enable": true,
        "json-rpc.api": "eth, debug,eth",
        "consensus.block-time": "500ms",
        "json-rpc.gas-cap": "1_000_000",
        "json-rpc.vhosts": "",
      },
    },
    `minimum-gas-prices = "1.5gwei"
     mempool.size-limit = "64MiB"
     [json-rpc]
     cors-origins = ["https://a.example"]
     body-limit = "1KiB"
     batch-limit = 7
     address = "[::1]:0"
     [consensus]
     extra-data = "0x6869"`,
  );
  assert.equal(config.jsonRpc.enable, true);
  assert.deepEqual(config.jsonRpc.api, ["eth", "debug"]);
  assert.deepEqual(config.jsonRpc.vhosts, []);
  assert.deepEqual(config.consensus.blockTime, { intervalMs: 500 });
  assert.equal(config.jsonRpc.callGasMax, 1_000_000n);
  assert.equal(config.mempool.minimumGasPriceWei, 1_500_000_000n);
  assert.equal(config.mempool.bytesMax, 64 << 20);
  assert.deepEqual(config.jsonRpc.corsOrigins, ["https://a.example"]);
  assert.equal(config.rpcLimits.bodyBytesMax, 1024);
  assert.equal(config.rpcLimits.batchItemsMax, 7);
  assert.deepEqual(config.jsonRpc.address, { host: "::1", port: 0 });
  assert.deepEqual([...config.consensus.extraData], [0x68, 0x69]);
});

test("origins with + are added to those that may call by default, others take their place", () => {
  const originsOf = (value: string) => load({ flags: { "json-rpc.cors-origins": value } }).config.jsonRpc.corsOrigins;
  const extensions = ["chrome-extension://*", "moz-extension://*", "safari-web-extension://*"];
  assert.deepEqual(originsOf("https://a.example"), ["https://a.example"]);
  assert.deepEqual(originsOf("+https://a.example"), [...extensions, "https://a.example"]);
  assert.deepEqual(originsOf("https://b.example,+https://a.example"), [
    ...extensions,
    "https://b.example",
    "https://a.example",
  ]);
  assert.deepEqual(originsOf("+*"), [...extensions, "*"]);
});

test("loadConfig names the key that took the place of one of geth's or of an earlier version", () => {
  const replaced = {
    "mempool.global-slots": "mempool.size-limit",
    "state.cache-size": "cache.size",
    "json-rpc.ws-deny-methods": "json-rpc.deny-methods",
  };
  for (const [key, successor] of Object.entries(replaced)) {
    const fate = fateOf(() => load({ flags: { [key]: "5120" } }));
    assert.ok(fate?.includes(`--${successor}`), fate);
  }
  const variable = { EVMINT_MEMPOOL_GLOBAL_SLOTS: "5120" };
  assert.match(fateOf(() => load({ environment: variable }))!, /EVMINT_MEMPOOL_SIZE_LIMIT/);
});

test("no former key is one today, and what takes the place of one is", () => {
  const keys = new Set(OPTIONS.map(({ key }) => key));
  for (const key of [REPLACED_KEYS, REMOVED_KEYS, FOREIGN_KEYS, FOREIGN_WITHOUT_KEY].flatMap(Object.keys)) {
    assert.ok(!keys.has(key), key);
    assert.notEqual(
      fateOf(() => load({ flags: { [key]: "1" } })),
      undefined,
    );
  }
  for (const table of [REPLACED_KEYS, FOREIGN_KEYS]) {
    for (const successor of Object.values(table)) assert.ok(keys.has(successor), successor);
  }
});

test("an app.toml of init has each key once, and the error of a second line names it", () => {
  const names = renderAppToml()
    .split(/^\[/m)
    .map((table) => [...table.matchAll(/^(?:# )?([a-z][a-z0-9-]*) = /gm)].map(([, name]) => name));
  assert.ok(names.flat().length > 50);
  for (const table of names) assert.equal(new Set(table).size, table.length, String(table));
  const twice = "[json-rpc]\nenable = true\nenable = false\n";
  assert.throws(() => load({}, twice), { code: "CONFIG_INVALID", message: /app\.toml:3:\d+: .*\(enable\)$/ });
});

test("a node's limits are the fixed ones unless a test changes them", () => {
  assert.deepEqual(load().config.limits, LIMITS);
  const { filters } = load({ limits: { filters: { max: 4 } } }).config.limits;
  assert.deepEqual(filters, { ...LIMITS.filters, max: 4 });
});

/** What the error says became of a key. */
function fateOf(loading: () => unknown): string | undefined {
  let fate: string | undefined;
  assert.throws(loading, (error: { code?: string; details?: { fate?: string } }) => {
    fate = error.details?.fate;
    return error.code === "CONFIG_UNKNOWN_KEY";
  });
  return fate;
}

test("loadConfig says why a key of an earlier version is gone", () => {
  const toml = '[cometbft]\nrpc-address = "127.0.0.1:26657"';
  assert.match(fateOf(() => load({}, toml))!, /rpc.sock/);
});

test("loadConfig refuses an unknown key in each source and names the nearest", () => {
  const cases: [Partial<ConfigSources>, string, string][] = [
    [{ flags: { "json-rpc.adress": "x" } }, "", "--json-rpc.address"],
    [{ environment: { EVMINT_JSONRPC_API: "eth" } }, "", "EVMINT_JSON_RPC_API"],
    [{}, "[json-rpc]\nws-adress = 'x'", "json-rpc.ws-address"],
    [{}, "minimum-gas-price = 1", "minimum-gas-prices"],
  ];
  for (const [sources, toml, nearest] of cases) {
    assert.throws(
      () => load(sources, toml),
      (error: { code?: string; details?: { nearest?: string } }) =>
        error.code === "CONFIG_UNKNOWN_KEY" && error.details?.nearest === nearest,
    );
  }
  assert.throws(() => load({}, "[wholly.different]\nx = 1"), {
    code: "CONFIG_UNKNOWN_KEY",
    details: { key: "wholly.different.x", source: `${appTomlPath(home)}:2:5`, nearest: undefined },
  });
  load({ environment: { EVMINT_HOME: "x", EVMINT_FIXTURES: "y", OTHER: "z" } });
  const service = { EVMINT_SERVICE_HOST: "10.0.0.1", EVMINT_PORT: "tcp://10.0.0.1:8545" };
  load({ environment: { ...service, EVMINT_SERVICE_PORT_RPC: "8545", EVMINT_PORT_8545_TCP: "x" } });
  assert.throws(() => load({ environment: { EVMINT_PORTS: "1" } }), { code: "CONFIG_UNKNOWN_KEY" });
});

test("a value of the wrong kind in app.toml is named with its line and column, whatever the setting", () => {
  const wrong = "[[1]]";
  for (const { key } of OPTIONS) {
    const text = setInAppToml(renderAppToml(), key, wrong);
    const lines = text.split("\n");
    const line = lines.findIndex((each) => each.endsWith(wrong));
    const origin = `${appTomlPath(home)}:${line + 1}:${lines[line]!.indexOf(wrong) + 1}`;
    assert.throws(() => load({}, text), { code: "CONFIG_INVALID", details: { key, origin } });
  }
  for (const [text, place] of [
    ['json-rpc.batch-limit = "x"', ":1:24"],
    ['\n  "json-rpc" . batch-limit="x"', ""],
    ['[json-rpc] # RPC\n\tbatch-limit   =  "x" # many', ":2:19"],
    ['json-rpc = { batch-limit = "x" }', ""],
  ] as const) {
    const details = { key: "json-rpc.batch-limit", origin: `${appTomlPath(home)}${place}` };
    assert.throws(() => load({}, text), { code: "CONFIG_INVALID", details });
  }
});

test("loadConfig refuses a value of the wrong kind, and a file that is not TOML", () => {
  const bad: [string, string][] = [
    ["json-rpc.evm-timeout", "5"],
    ["json-rpc.evm-timeout", "-5s"],
    ["json-rpc.address", "8545"],
    ["json-rpc.address", "127.0.0.1:65536"],
    ["json-rpc.enable", "yes"],
    ["json-rpc.batch-limit", "0"],
    ["json-rpc.batch-limit", "1e3"],
    ["json-rpc.body-limit", "5 potatoes"],
    ["consensus.block-time", "0"],
    ["consensus.engine", "tendermint"],
    ["consensus.gas-limit", "999999"],
    ["consensus.fee-recipient", "0x12"],
    ["consensus.extra-data", `0x${"00".repeat(33)}`],
    ["minimum-gas-prices", "0.5"],
    ["minimum-gas-prices", "0x1"],
  ];
  for (const [key, value] of bad) {
    assert.throws(() => load({ flags: { [key]: value } }), { code: "CONFIG_INVALID" }, `${key} ${value}`);
  }
  assert.throws(() => load({}, "[json-rpc]\napi = [1]"), { code: "CONFIG_INVALID" });
  assert.throws(() => load({}, "[json-rpc]\naddress = 1979-05-27"), { code: "CONFIG_INVALID" });
  assert.throws(() => load({}, "[json-rpc"), { code: "CONFIG_INVALID" });
});

test("RPC processes leave the chain a core from four cores on, and a dev chain has none", () => {
  assert.deepEqual([1, 2, 3, 4, 5, 64].map(processesFor), [0, 0, 0, 3, 4, 4]);
  assert.equal(load().config.jsonRpc.processes, processesFor(availableParallelism()));
  assert.equal(load({ dev: true }).config.jsonRpc.processes, 0);
});

test("transactions are executed ahead from four cores on, and on no dev chain", () => {
  assert.deepEqual([1, 2, 3, 4, 8, 64].map(speculationThreadsFor), [0, 0, 0, 1, 2, 4]);
  assert.equal(load().config.evm.speculationThreads, speculationThreadsFor(availableParallelism()));
  assert.equal(load({ dev: true }).config.evm.speculationThreads, 0);
});

test("the guide has the defaults by cores", () => {
  const guide = new URL("../../../docs/operations/one-machine.md", import.meta.url);
  const rows = [...readFileSync(guide, "utf8").matchAll(/^\| (\d+) \| (\d+) \| (\d+) \|/gm)];
  assert.deepEqual(
    rows.map((row) => row.slice(1, 4).map(Number)),
    [1, 2, 4, 8].map((cores) => [cores, processesFor(cores), workersFor(cores)]),
  );
});

test("a loaded configuration cannot be changed", () => {
  const { config } = load();
  assert.ok(Object.isFrozen(config));
  for (const group of Object.values(config)) {
    if (typeof group !== "object") continue;
    assert.ok(Object.isFrozen(group));
    for (const value of Object.values(group)) {
      assert.ok(typeof value !== "object" || value instanceof Uint8Array || Object.isFrozen(value));
    }
  }
});

test("what shapes a dev chain comes with a start: a key of its file or environment says by which flag", () => {
  assert.equal(load({ dev: true, flags: { accounts: "3" } }).config.devChain.accounts, 3);
  assert.equal(load({ dev: true, flags: { balance: "5gwei" } }).config.devChain.balance, 5_000_000_000n);
  assert.throws(() => load({ dev: true, flags: { balance: "5" } }), { code: "CONFIG_INVALID" });
  const fate = (key: string) => (error: Error) => error.message.includes(`use --${key} at each start`);
  for (const { key } of DEV_FLAG_OPTIONS) {
    assert.throws(() => load({}, `[dev]\n${key} = "1"`), fate(key));
    assert.throws(() => load({ flags: { [`dev.${key}`]: "1" } }), fate(key));
    assert.throws(() => load({ environment: { [environmentName(`dev.${key}`)]: "1" } }), fate(key));
    assert.throws(() => load({}, `${key} = "1"`), { code: "CONFIG_UNKNOWN_KEY" });
  }
});

test("every key is spelt as a flag can be, and each environment name is one key's", () => {
  for (const { key } of OPTIONS) assert.match(key, /^[a-z]+(-[a-z0-9]+)*(\.[a-z][a-z0-9]*(-[a-z]+)*)?$/);
  assert.equal(new Set(OPTIONS.map(({ key }) => environmentName(key))).size, OPTIONS.length);
  assert.equal(environmentName("json-rpc.address"), "EVMINT_JSON_RPC_ADDRESS");
});

test("a new app.toml shows every default, and reads back as the defaults when they are put in force", () => {
  const text = renderAppToml();
  const defaults = load().config;
  const asWritten = load({}, text);
  assert.equal(asWritten.config.jsonRpc.enable, true);
  assert.deepEqual(
    [...asWritten.origins].filter(([, origin]) => origin !== "default").map(([key]) => key),
    ["json-rpc.enable", "json-rpc.ws-address"],
  );
  assert.equal(asWritten.config.jsonRpc.wsAddress.host, "127.0.0.1");
  const inForce = text
    .replace(/^# Default: (.*)\n(enable|ws-address) = .*$/gm, "$2 = $1")
    .replace(/^# ([a-z0-9-]+ = )/gm, "$1");
  const { config, origins } = load({}, inForce);
  assert.deepEqual(config, defaults);
  for (const { key } of OPTIONS) assert.match(origins.get(key)!, /app\.toml$/, key);
});

test("setInAppToml changes one setting and nothing else", () => {
  const text = renderAppToml();
  const once = setInAppToml(text, "minimum-gas-prices", '"7gwei"');
  const twice = setInAppToml(once, "minimum-gas-prices", '"8gwei"');
  assert.equal(once.split("\n").length, text.split("\n").length + 1);
  assert.equal(twice.split("\n").length, once.split("\n").length);
  assert.equal(load({}, twice).config.mempool.minimumGasPriceWei, 8_000_000_000n);
  const address = setInAppToml(twice, "metrics.address", '"127.0.0.1:1"');
  assert.equal(load({}, address).config.metrics.address.port, 1);
  assert.equal(load({}, address).config.jsonRpc.address.port, 8545);
  const own = "[json-rpc] # mine\naddress = '127.0.0.1:5'\n[ipc]\npath = ''";
  // smol-toml's tables have no prototype, which deepEqual counts.
  const parsed = (toml: string) => JSON.parse(JSON.stringify(parseToml(toml)));
  assert.deepEqual(parsed(setInAppToml(own, "json-rpc.enable", "true")), {
    "json-rpc": { address: "127.0.0.1:5", enable: true },
    ipc: { path: "" },
  });
  assert.deepEqual(parsed(setInAppToml("", "log.level", '"warn"')), { log: { level: "warn" } });
});
