import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DEV_FLAG_OPTIONS } from "../../node/config/dev-flags.ts";
import { OPTIONS } from "../../node/config/schema.ts";
import { ANVIL_FLAGS } from "./flags.ts";
import { mnemonicOfSeed, randomMnemonic } from "./mnemonic.ts";
import { parseFlags } from "./parse-flags.ts";
import { settingsFrom, settingsOf } from "./settings-of-flags.ts";

async function settings(...args: string[]) {
  return settingsOf(parseFlags(args).flags);
}

function rejects(args: string[], text: RegExp) {
  return assert.rejects(async () => settings(...args), { code: "CLI_USAGE", message: text });
}

test("parseFlags reads long and short flags with their values apart, after = and attached, and switches in one word", () => {
  const forms = [["--port", "9000"], ["--port=9000"], ["-p", "9000"], ["-p9000"], ["-p=9000"]];
  for (const form of forms) assert.deepEqual(parseFlags(form).flags, new Map([["port", ["9000"]]]));
  assert.deepEqual(
    parseFlags(["-vvq"]).flags,
    new Map([
      ["verbosity", ["", ""]],
      ["quiet", [""]],
    ]),
  );
  assert.deepEqual(
    parseFlags(["--no-mine", "--rpc-url", "http://a"]).flags,
    new Map([
      ["no-mining", [""]],
      ["fork-url", ["http://a"]],
    ]),
  );
});

test("parseFlags takes a value that may be left out, and a negative number", () => {
  assert.deepEqual(parseFlags(["--ipc", "--quiet"]).flags.get("ipc"), ["/tmp/anvil.ipc"]);
  assert.deepEqual(parseFlags(["--ipc", "/x"]).flags.get("ipc"), ["/x"]);
  assert.deepEqual(parseFlags(["-f", "http://a", "--fork-block-number", "-5"]).flags.get("fork-block-number"), ["-5"]);
});

test("parseFlags takes settings by their own names", () => {
  const { settings: given } = parseFlags([
    "--json-rpc.gas-cap",
    "5",
    "--in-memory",
    "--quiet",
    "--explorer.enable",
    "false",
  ]);
  assert.deepEqual(given, { "json-rpc.gas-cap": "5", "in-memory": true, "explorer.enable": "false" });
});

test("flags of anvil are settings of a dev chain", async () => {
  assert.deepEqual(await settings("-a", "3", "--balance", "5", "-b", "0.5", "--base-fee", "7"), {
    accounts: "3",
    balance: "5ether",
    "consensus.block-time": "500ms",
    "base-fee": "7",
  });
  assert.deepEqual(
    await settings("-f", "http://a@12", "-f", "http://b", "--fork-header", "a: 1,2", "--fork-header", "b: 3"),
    {
      "dev.fork-url": "http://a,http://b",
      "fork-block": "12",
      "fork-headers": "a: 1,2\nb: 3",
    },
  );
  assert.deepEqual(await settings("--state", "/nonexistent/state.json"), {
    "dump-state": "/nonexistent/state.json",
  });
});

test("wrong flags are errors of use with the reason", async () => {
  await rejects(["--nope"], /^unexpected argument '--nope' found/);
  await rejects(["word"], /^unexpected argument 'word' found/);
  await rejects(["--accounts", "x"], /^invalid value 'x' for '--accounts <NUM>': invalid digit/);
  await rejects(["--accounts"], /^a value is required for '--accounts <NUM>'/);
  await rejects(["--quiet=1"], /^unexpected value '1' for '--quiet'/);
  await rejects(["-p", "99999"], /99999 is not in 0\.\.=65535/);
  await rejects(["-p", "1", "-p", "2"], /cannot be used multiple times/);
  await rejects(["--no-mining", "-b", "5"], /^the argument '--no-mining' cannot be used with '--block-time <SECONDS>'/);
  await rejects(["--mixed-mining"], /required arguments were not provided:\n {2}--block-time/);
  await rejects(["--hardfork", "london"], /blocks have no work/);
  await rejects(["--number", "5"], /^'--number <NUM>' is not supported: /);
});

test("every flag of anvil is a setting that exists, is read by the command, or says why it is not", async () => {
  const samples: Readonly<Record<string, string>> = {
    hardfork: "osaka",
    order: "fifo",
    host: "127.0.0.1",
    color: "never",
    network: "ethereum",
  };
  const names = ANVIL_FLAGS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  assert.equal(new Set(names).size, names.length);
  for (const flag of ANVIL_FLAGS) {
    const value = flag.value === undefined ? "" : (samples[flag.name] ?? "12");
    for (const [key, text] of Object.entries(settingsFrom(flag, flag.read?.(value) ?? value))) {
      const option = [...OPTIONS, ...DEV_FLAG_OPTIONS].find((each) => each.key === key);
      assert.ok(option, `${flag.name}: ${key}`);
      // A path or hash is wanted there; what the flag is for is tested elsewhere.
      if (["derivation-path", "fork-headers", "fork-transaction"].includes(key)) continue;
      assert.notEqual(option.type.parse(text), undefined, `${flag.name}: ${key} = ${text}`);
    }
  }
});

test("mnemonicOfSeed is anvil's phrase of a seed", async () => {
  // anvil 1.7.1 --mnemonic-seed-unsafe
  assert.equal(await mnemonicOfSeed(0n), "leisure need topic clown code attend earn lounge baby omit vault crunch");
});

test("randomMnemonic has as many words as asked for, and no two are the same", async () => {
  for (const words of [12, 15, 18, 21, 24]) assert.equal((await randomMnemonic(words)).split(" ").length, words);
  assert.notEqual(await randomMnemonic(), await randomMnemonic());
  await assert.rejects(randomMnemonic(13), { code: "CLI_USAGE" });
});

test("the guide has a row for every flag of anvil", () => {
  const guide = readFileSync(new URL("../../../docs/guides/from-anvil.md", import.meta.url), "utf8");
  const rows = guide.split("\n").filter((line) => line.startsWith("| `-"));
  for (const flag of ANVIL_FLAGS) {
    const row = rows.find((line) => new RegExp(`\`--${flag.name}[ \`]`).test(line));
    assert.equal("refused" in flag, row?.includes("| error: "), flag.name);
  }
});
