import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { startEvmintd } from "../support/evmintd.ts";
import { WsClient } from "../support/ws-client.ts";

/** Other programs that run JavaScript, with their arguments before a file; older versions are not supported. */
const RUNTIMES = [
  { name: "deno", args: ["run", "--allow-all"], since: [2, 9] },
  { name: "bun", args: [], since: [1, 4] },
] as const;
const MODULES = ["bundle/library.js", "browser/index.js"];
const [ALICE, BOB] = DEV_ADDRESSES;
const TRANSFER = { from: ALICE, to: BOB, value: "0x1" };
/** A tracer that runs in QuickJS, on an execution thread. */
const SCRIPT = "{ step() {}, fault() {}, result: () => 7 }";
const PAIRING = "0x0000000000000000000000000000000000000008";

for (const { name, args, since } of RUNTIMES) {
  const version = versionOf(name);
  const skip = isAtLeast(version, since) ? false : `${name} ${since.join(".")} or later is not on PATH`;

  for (const module of MODULES) {
    test(`a program of ${name} runs a node of dist/${module}`, { skip }, async () => {
      const printed = await runProgram(name, args, module);
      assert.deepEqual(printed, { status: "0x1", pairing: `0x${"1".padStart(64, "0")}` });
    });
  }

  test(`evmintd in ${name} answers over HTTP and WebSocket and stores its chain`, {
    skip,
  }, async () => {
    const home = mkdtempSync(join(tmpdir(), "evmint-runtime-"));
    try {
      const first = await startEvmintd(home, ["--dev"], args, name);
      const hash = await call(first.url, "eth_sendTransaction", TRANSFER);
      const receipt = await call(first.url, "eth_getTransactionReceipt", hash);
      const [{ result }] = await call(first.url, "debug_traceBlockByNumber", "0x1", {
        tracer: SCRIPT,
      });
      assert.equal(result, 7);
      const socket = await WsClient.open(webSocketUrl(first.output.stdout));
      assert.deepEqual(await socket.call("eth_getTransactionReceipt", hash), receipt);
      socket.socket.close();
      first.child.kill("SIGTERM");
      await first.exited;
      const second = await startEvmintd(home, ["--dev"], args, name);
      assert.deepEqual(await call(second.url, "eth_getTransactionReceipt", hash), receipt);
      second.child.kill("SIGTERM");
      await second.exited;
    } finally {
      rmSync(home, { recursive: true });
    }
  });
}

/** Major and minor version; undefined: not on PATH */
function versionOf(name: string): readonly [major: number, minor: number] | undefined {
  const { error, stdout } = spawnSync(name, ["--version"], { encoding: "utf8" });
  const found = error ? null : /(\d+)\.(\d+)\.\d/.exec(stdout);
  return found ? [Number(found[1]), Number(found[2])] : undefined;
}

function isAtLeast(version: readonly [number, number] | undefined, [major, minor]: readonly [number, number]): boolean {
  if (version === undefined) return false;
  return version[0] > major || (version[0] === major && version[1] >= minor);
}

async function runProgram(name: string, args: readonly string[], module: string): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), "evmint-runtime-"));
  const file = join(folder, "program.mjs");
  const entry = new URL(`../../dist/${module}`, import.meta.url).href;
  writeFileSync(file, program(entry));
  try {
    const { stdout } = await promisify(execFile)(name, [...args, file]);
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Sends a transaction, and calls a precompile that is WebAssembly. */
function program(entry: string): string {
  return `
    import { createNode } from ${JSON.stringify(entry)};
    const { rpc, stop } = await createNode();
    const hash = await rpc.eth_sendTransaction(${JSON.stringify(TRANSFER)});
    const { status } = await rpc.eth_getTransactionReceipt(hash);
    const pairing = await rpc.eth_call({ to: "${PAIRING}", data: "0x" }, "latest");
    await stop();
    console.log(JSON.stringify({ status, pairing }));`;
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was returned
async function call(url: string, method: string, ...params: unknown[]): Promise<any> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body });
  const { result, error } = (await response.json()) as { result: unknown; error: unknown };
  assert.equal(error, undefined);
  return result;
}

function webSocketUrl(output: string): string {
  const url = /ws:\/\/[\d.:]+/.exec(output)?.[0];
  assert.ok(url);
  return url;
}
