/**
 * What dev nodes disagree about: the same requests to each of them. `docs/guides/from-anvil.md` has the answers as a table, which is the record that this
 * node is compared with, and other nodes where they are installed: anvil, and Hardhat in `HARDHAT_DIR` (see CONTRIBUTING.md).
 * `STORE_SEMANTICS=1 npm test -- dev-semantics` writes the columns of the nodes that run.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { foundryBinary } from "../../bench/support/peers.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { spawnEvmintd } from "../support/evmintd.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";

const PAGE = fileURLToPath(new URL("../../docs/guides/from-anvil.md", import.meta.url));
const isStoring = process.env["STORE_SEMANTICS"] === "1";
const folder = mkdtempSync(join(tmpdir(), "evmint-semantics-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const [A0, A1] = DEV_ADDRESSES;
const STRANGER = "0x00000000000000000000000000000000000000ee";
const ETHER = "0xde0b6b3a7640000";
const MAX = `0x${"f".repeat(64)}`;
/** Reverts without data. */
const REVERTS = "0x5f5ffd";

type Outcome = { readonly result?: unknown; readonly error?: { readonly code: number; readonly message: string } };
type Node = {
  readonly url: string;
  /** The result; throws what the node calls an error. */
  ask<T = string>(method: string, ...params: unknown[]): Promise<T>;
  /** The result or the error as a text. */
  say(method: string, ...params: unknown[]): Promise<string>;
  /** `anvil_NAME`, and `hardhat_NAME` for Hardhat. */
  own(name: string): string;
};

const TEXT_LENGTH_MAX = 70;

function nodeAt(url: string, prefix: "anvil" | "hardhat"): Node {
  let id = 0;
  async function post(method: string, params: readonly unknown[]): Promise<Outcome> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params });
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    return (await response.json()) as Outcome;
  }
  return {
    url,
    own: (name) => `${prefix}_${name}`,
    async ask<T>(method: string, ...params: unknown[]) {
      const { result, error } = await post(method, params);
      if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.message}`);
      return result as T;
    },
    async say(method, ...params) {
      const { result, error } = await post(method, params);
      if (error === undefined) return typeof result === "string" ? result : JSON.stringify(result);
      const text = error.message
        .split("\n")[0]!
        .replaceAll("|", "/")
        .replaceAll(/0x[0-9a-f]{40,}/gi, "0x…");
      return `${error.code} ${text.slice(0, TEXT_LENGTH_MAX)}${text.length > TEXT_LENGTH_MAX ? "…" : ""}`;
    },
  };
}

/** Requests, one after the other. */
const RECEIPT_TRIES = 100;

/** `mined`, `reverted` or `pending` for a hash; else the error. */
async function fateOf(node: Node, tx: object): Promise<string> {
  const said = await node.say("eth_sendTransaction", tx);
  if (!/^0x[0-9a-f]{64}$/.test(said)) return said;
  // anvil answers before the block is there.
  for (let tries = 0; tries < RECEIPT_TRIES; tries++) {
    const receipt = await node.ask<{ readonly status: string } | null>("eth_getTransactionReceipt", said);
    if (receipt !== null) return receipt.status === "0x1" ? "mined" : "mined, status 0";
  }
  return "pending";
}

async function headTime(node: Node): Promise<number> {
  const { timestamp } = await node.ask<{ readonly timestamp: string }>("eth_getBlockByNumber", "latest", false);
  return Number(timestamp);
}

/** How far the head moved by `mine`, after the next block's time was set 5,000 s ahead. */
async function spaced(node: Node, mine: string): Promise<string> {
  const before = await headTime(node);
  await node.ask("evm_setNextBlockTimestamp", before + 5_000);
  const said = await node.say(mine, "0x3", "0xa");
  return said.startsWith("-") ? said : `${(await headTime(node)) - before} s`;
}

async function impersonate(node: Node, address: string): Promise<void> {
  await node.ask(node.own("setBalance"), address, ETHER);
  await node.ask(node.own("impersonateAccount"), address);
}

/** An interval of 0 switches automine off in anvil. */
async function atOnce(node: Node): Promise<void> {
  await node.ask("evm_setIntervalMining", 0);
  await node.ask("evm_setAutomine", true);
}

type Scenario = { readonly what: string; readonly why?: string; run(node: Node): Promise<string> };

/** Each begins after a snapshot, to which the chain goes back, with blocks at once and nobody impersonated. */
const SCENARIOS: readonly Scenario[] = [
  {
    what: "`anvil_getIntervalMining` after `evm_setIntervalMining 3`",
    why: "viem sends seconds to anvil and milliseconds to Hardhat under this name",
    async run(node) {
      await node.ask("evm_setIntervalMining", 3);
      const said = await node.say("anvil_getIntervalMining");
      await atOnce(node);
      return said;
    },
  },
  {
    what: "`evm_setAutomine true` after `evm_setIntervalMining 3600`, then `anvil_getIntervalMining`",
    async run(node) {
      await node.ask("evm_setIntervalMining", 3600);
      await node.ask("evm_setAutomine", true);
      const said = await node.say("anvil_getIntervalMining");
      await atOnce(node);
      return said;
    },
  },
  {
    what: "`anvil_mine 3 10` after `evm_setNextBlockTimestamp` head + 5000: the head moves by",
    why: "the set time holds for the first block",
    run: (node) => spaced(node, "anvil_mine"),
  },
  { what: "`hardhat_mine 3 10` after the same", run: (node) => spaced(node, "hardhat_mine") },
  {
    what: "impersonated after `evm_snapshot`, sends after `evm_revert`",
    why: "suites impersonate once and revert before each test",
    async run(node) {
      const id = await node.ask("evm_snapshot");
      await node.ask(node.own("impersonateAccount"), STRANGER);
      await node.ask("evm_revert", id);
      await node.ask(node.own("setBalance"), STRANGER, ETHER);
      const fate = await fateOf(node, { from: STRANGER, to: A1, value: "0x1" });
      await node.ask(node.own("stopImpersonatingAccount"), STRANGER);
      return fate;
    },
  },
  {
    what: "`getAutomine` after snapshot, `evm_setAutomine false`, revert",
    async run(node) {
      const id = await node.ask("evm_snapshot");
      await node.ask("evm_setAutomine", false);
      await node.ask("evm_revert", id);
      const said = await node.say(node.own("getAutomine"));
      await node.ask("evm_setAutomine", true);
      return said;
    },
  },
  {
    what: "the second `evm_revert` of one id",
    async run(node) {
      const id = await node.ask("evm_snapshot");
      await node.ask("evm_revert", id);
      return node.say("evm_revert", id);
    },
  },
  {
    what: "a price of 0 where the next base fee is 0",
    why: "senders without ether",
    async run(node) {
      await node.ask(node.own("setNextBlockBaseFeePerGas"), "0x0");
      return fateOf(node, { from: A0, to: A1, gas: "0x5208", gasPrice: "0x0" });
    },
  },
  {
    what: "a sender that was given code",
    why: "EIP-3607 is for keys that nobody can have",
    async run(node) {
      await node.ask(node.own("setCode"), A1, "0x00");
      const fate = await fateOf(node, { from: A1, to: A0, value: "0x1" });
      await node.ask(node.own("setCode"), A1, "0x");
      return fate;
    },
  },
  {
    what: "1 wei to an account that has 2^256 − 1",
    async run(node) {
      await node.ask(node.own("setBalance"), STRANGER, MAX);
      return fateOf(node, { from: A0, to: STRANGER, value: "0x1", gas: "0x186a0" });
    },
  },
  {
    what: "a transaction that reverts, with a gas limit",
    run: (node) => fateOf(node, { from: A0, data: REVERTS, gas: "0x186a0" }),
  },
  {
    what: "the same without",
    why: "the estimate tells the reason; anvil sends with the gas limit of a block",
    run: (node) => fateOf(node, { from: A0, data: REVERTS }),
  },
  {
    what: "`eth_sendTransaction` without `from`",
    run: (node) => fateOf(node, { to: A1, value: "0x1" }),
  },
  {
    what: "a nonce too low",
    why: "tools compare texts",
    run: (node) => fateOf(node, { from: A0, to: A1, nonce: "0x0", gas: "0x5208" }),
  },
  {
    what: "a nonce of 5 too many",
    async run(node) {
      const nonce = Number(await node.ask("eth_getTransactionCount", A0, "latest"));
      const fate = await fateOf(node, { from: A0, to: A1, nonce: `0x${(nonce + 5).toString(16)}`, gas: "0x5208" });
      await node.say(node.own("dropAllTransactions"));
      return fate;
    },
  },
  {
    what: "`setNonce` below the account's",
    async run(node) {
      await fateOf(node, { from: A0, to: A1 });
      return node.say(node.own("setNonce"), A0, "0x0");
    },
  },
  {
    what: "`eth_accounts` has an impersonated account",
    async run(node) {
      await impersonate(node, STRANGER);
      const accounts = await node.ask<string[]>("eth_accounts");
      await node.ask(node.own("stopImpersonatingAccount"), STRANGER);
      return accounts.includes(STRANGER) ? "yes" : "no";
    },
  },
  { what: "`evm_mine`", run: (node) => node.say("evm_mine") },
  { what: "`evm_increaseTime -10`", run: (node) => node.say("evm_increaseTime", -10) },
  { what: "a method that nobody has", run: (node) => node.say("eth_nonexistent") },
  {
    what: "a call on a block that is not there yet",
    async run(node) {
      // anvil at times mines one more block before.
      const head = Number(await node.ask("eth_blockNumber"));
      const said = await node.say("eth_call", { to: A1 }, "0xffffff");
      return said.replace(`height is ${head} `, "height is … ");
    },
  },
  {
    what: "number of the `finalized` block behind a head at 100",
    async run(node) {
      const head = Number(await node.ask("eth_blockNumber"));
      await node.ask(node.own("mine"), `0x${(100 - head).toString(16)}`);
      const block = await node.ask<{ readonly number: string } | null>("eth_getBlockByNumber", "finalized", false);
      return block === null ? "null" : `${Number(block.number)}`;
    },
  },
  {
    what: "`wallet_sendCalls`",
    why: "viem falls back to single transactions",
    run: (node) => node.say("wallet_sendCalls", {}),
  },
  {
    what: "HTTP without `content-type`",
    why: "elsewhere the header keeps pages of others out",
    async run({ url }) {
      const body = new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}');
      return `${(await fetch(url, { method: "POST", body })).status}`;
    },
  },
];

type Started = { readonly node: Node; stop(): Promise<unknown> };
type Column = { readonly name: string; readonly isOwn: boolean; start(): Promise<Started | undefined> };

function stopOf(child: ChildProcess): () => Promise<unknown> {
  const exited = new Promise((resolve) => child.once("close", resolve));
  return () => {
    child.kill("SIGKILL");
    return exited;
  };
}

async function answering(node: Node, stop: () => Promise<unknown>): Promise<Started> {
  await until(
    () =>
      node.ask("eth_chainId").then(
        () => true,
        () => false,
      ),
    `an answer of ${node.url}`,
  );
  return { node, stop };
}

const COLUMNS: readonly Column[] = [
  {
    name: "anvil 1.7.1",
    isOwn: false,
    async start() {
      const binary = foundryBinary("anvil");
      if (binary === undefined) return undefined;
      const port = await freePort();
      const child = spawn(binary, ["--port", `${port}`, "--silent"], { stdio: "ignore" });
      return answering(nodeAt(`http://127.0.0.1:${port}`, "anvil"), stopOf(child));
    },
  },
  {
    name: "Hardhat 3",
    isOwn: false,
    async start() {
      const modules = process.env["HARDHAT_DIR"] && join(process.env["HARDHAT_DIR"], "node_modules");
      if (!modules || !existsSync(join(modules, "hardhat"))) return undefined;
      symlinkSync(modules, join(folder, "node_modules"));
      writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
      writeFileSync(join(folder, "hardhat.config.ts"), "export default {};");
      const newer = join(modules, "node", "bin", "node");
      const port = await freePort();
      const child = spawn(
        existsSync(newer) ? newer : process.execPath,
        [join(modules, "hardhat", "dist", "src", "cli.js"), "node", "--port", `${port}`],
        { cwd: folder, stdio: "ignore", env: { ...process.env, HARDHAT_DISABLE_TELEMETRY_PROMPT: "true", CI: "1" } },
      );
      return answering(nodeAt(`http://127.0.0.1:${port}`, "hardhat"), stopOf(child));
    },
  },
  { name: "`evmintd anvil`", isOwn: true, start: () => startOwn((port) => ["anvil", "--port", `${port}`]) },
  {
    name: "`start --dev`",
    isOwn: true,
    start: () =>
      startOwn((port) => [
        "start",
        "--dev",
        "--home",
        join(folder, "home"),
        "--json-rpc.address",
        `127.0.0.1:${port}`,
        "--json-rpc.ws-address",
        "127.0.0.1:0",
      ]),
  },
];

async function startOwn(argsOf: (port: number) => readonly string[]): Promise<Started> {
  const port = await freePort();
  const { child, exited } = spawnEvmintd(argsOf(port));
  const stop = () => {
    child.kill("SIGTERM");
    return exited;
  };
  const ended = exited.then((code) => Promise.reject(new Error(`evmintd ended with ${code}`)));
  return Promise.race([answering(nodeAt(`http://127.0.0.1:${port}`, "anvil"), stop), ended]);
}

/** What the node says to each scenario. */
async function answersOf(node: Node): Promise<string[]> {
  const answers: string[] = [];
  for (const { run } of SCENARIOS) {
    // A nonce that is used, for the scenarios about those.
    const id = await node.ask("evm_snapshot");
    await fateOf(node, { from: A0, to: A1, value: "0x1" });
    answers.push(await run(node));
    await node.ask("evm_revert", id);
  }
  return answers;
}

const [BEGIN, END] = ["<!-- what dev nodes answer -->\n", "<!-- end -->\n"];

/** The table of the page, a row for each scenario, without its head. */
function readTable(): string[][] {
  const text = readFileSync(PAGE, "utf8");
  const table = text.slice(text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END));
  const rows = table.trim().split("\n").slice(2);
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function writeTable(rows: readonly (readonly string[])[]): void {
  const text = readFileSync(PAGE, "utf8");
  const head = ["asked", ...COLUMNS.map(({ name }) => name), "why"];
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  const table = `${BEGIN}${lines.join("\n")}\n${END}`;
  writeFileSync(PAGE, text.slice(0, text.indexOf(BEGIN)) + table + text.slice(text.indexOf(END) + END.length));
}

test("the guide's table has a row for each scenario, with its reason", { skip: isStoring }, () => {
  assert.deepEqual(
    readTable().map((row) => [row[0], row.at(-1)]),
    SCENARIOS.map(({ what, why = "" }) => [what, why]),
  );
});

for (const [index, { name, isOwn, start }] of COLUMNS.entries()) {
  test(`${name} answers as the guide's table says`, async (context) => {
    const started = await start();
    if (started === undefined) {
      assert.ok(!isOwn);
      context.skip(`left out: no ${name}`);
      return;
    }
    try {
      const answers = await answersOf(started.node);
      const stored = readTable();
      if (!isStoring) {
        assert.deepEqual(
          answers,
          stored.map((row) => row[index + 1]),
        );
        return;
      }
      writeTable(
        SCENARIOS.map(({ what, why = "" }, i) => {
          const columns = COLUMNS.map((_, at) =>
            at === index ? answers[i]! : (stored.find((row) => row[0] === what)?.[at + 1] ?? ""),
          );
          return [what, ...columns, why];
        }),
      );
    } finally {
      await started.stop();
    }
  });
}
