/** Runs the built node once, so that it stores its compiled code: its next start takes half the CPU time. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const TIMEOUT_MS = 30_000;
const ACCOUNT = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
/** Stores a word when it is created; called, it returns the first word of its call data. */
const CREATION_CODE = "0x602a600055600b6011600039600b6000f360003560005260206000f3";
const TRANSFER = { from: ACCOUNT, to: "0x00000000000000000000000000000000000000aa", value: "0x1" };

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
  {
    env: withoutSettings(process.env),
    stdio: ["ignore", "pipe", "inherit"],
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
  },
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

/** Settings for the user's node, such as `EVMINT_HOME`, are not for this one. */
function withoutSettings(environment) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("EVMINT_")));
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

/** What newcomers and test suites do first: functions that run here are compiled when the next node starts. */
async function ask(url) {
  const call = async (method, ...params) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body });
    const { result, error } = await response.json();
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  await call("eth_chainId");
  await call("eth_getBlockByNumber", "latest", true);
  const snapshot = await call("evm_snapshot");
  await call("eth_estimateGas", TRANSFER);
  const nonce = await call("eth_getTransactionCount", ACCOUNT, "pending");
  const fees = { gas: "0x5208", maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x3b9aca00" };
  const { raw } = await call("eth_signTransaction", { ...TRANSFER, ...fees, nonce });
  await call("eth_getTransactionReceipt", await call("eth_sendRawTransaction", raw));
  const hash = await call("eth_sendTransaction", { from: ACCOUNT, data: CREATION_CODE });
  const { contractAddress } = await call("eth_getTransactionReceipt", hash);
  await call("eth_call", { to: contractAddress, data: `0x${"01".repeat(32)}` }, "latest");
  await call("eth_getLogs", { fromBlock: "0x0", toBlock: "latest" });
  await call("eth_getTransactionByHash", hash);
  await call("evm_revert", snapshot);
}
