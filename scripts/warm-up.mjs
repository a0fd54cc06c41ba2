/** Runs the built node once, so that it stores its compiled code: its next start takes half the CPU time. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const TIMEOUT_MS = 30_000;
const requests = [
  ["eth_chainId"],
  ["eth_getBlockByNumber", "latest", true],
  ["eth_getTransactionCount", "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266", "pending"],
];

const home = mkdtempSync(join(tmpdir(), "evmint-warm-up-"));
const node = spawn(
  process.execPath,
  [
    fileURLToPath(new URL("../bin/evmintd.js", import.meta.url)),
    "start",
    "--dev",
    "--home",
    home,
    "--port",
    "0",
    "--log.level",
    "error",
  ],
  { stdio: ["ignore", "pipe", "inherit"], timeout: TIMEOUT_MS, killSignal: "SIGKILL" },
);
try {
  const exited = new Promise((resolve) => node.once("exit", resolve));
  const url = await firstUrl(node.stdout, exited);
  await ask(url);
  node.kill("SIGTERM");
  if ((await exited) !== 0) throw new Error("the built node does not stop in order");
} catch (error) {
  process.stderr.write(`evmint: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  node.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
}

async function firstUrl(output, exited) {
  let text = "";
  output.setEncoding("utf8");
  const found = new Promise((resolve) =>
    output.on("data", (chunk) => {
      text += chunk;
      const url = /http:\/\/[\d.]+:\d+/.exec(text)?.[0];
      if (url !== undefined) resolve(url);
    }),
  );
  const url = await Promise.race([found, exited]);
  if (typeof url !== "string") throw new Error("the built node does not start");
  return url;
}

/** What newcomers do first, a transaction included. */
async function ask(url) {
  for (const [method, ...params] of requests) {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body });
    const { error } = await response.json();
    if (error) throw new Error(`${method}: ${error.message}`);
  }
}
