import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { HANG_MS } from "../support/until.ts";

const ENTRY = fileURLToPath(new URL("../../dist/bundle/library.js", import.meta.url));

/** Runs a program with a node that it does not stop. */
async function run(body: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const program = `import { createNode } from ${JSON.stringify(ENTRY)};\n${body}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: HANG_MS,
    killSignal: "SIGKILL",
    env: { PATH: process.env["PATH"] },
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output: output.trim() };
}

const SEND = `
  const [from, to] = node.accounts;
  const hash = await node.rpc.eth_sendTransaction({ from: from.address, to: to.address, value: "0x1" });
  await node.rpc.eth_call({ to: to.address }, "latest");`;

test("a program ends without stopping its nodes", async () => {
  const { code, output } = await run(`
    const node = await createNode();
    ${SEND}
    console.log((await node.rpc.eth_getTransactionReceipt(hash)).status);`);
  assert.deepEqual({ code, output }, { code: 0, output: "0x1" });
});

test("a program ends without stopping a node with blocks by time and threads", async () => {
  const { code, output } = await run(`
    const settings = { "consensus.block-time": "1s", "json-rpc.workers": "1" };
    const node = await createNode({ settings });
    ${SEND}
    console.log(hash.length);`);
  assert.deepEqual({ code, output }, { code: 0, output: "66" });
});

test("a program that waits for a message of its node lives until it came", async () => {
  const { code, output } = await run(`
    const node = await createNode({ settings: { "consensus.block-time": "200ms" } });
    const message = new Promise((resolve) => node.provider.once("message", resolve));
    const id = await node.provider.request({ method: "eth_subscribe", params: ["newHeads"] });
    console.log((await message).data.result.number);
    await node.provider.request({ method: "eth_unsubscribe", params: [id] });`);
  assert.deepEqual({ code, output }, { code: 0, output: "0x1" });
});

test("an address in the settings of createNode opens its listener, which holds the program", async () => {
  const { code, output } = await run(`
    const node = await createNode({ settings: { "json-rpc.address": "127.0.0.1:0" } });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] });
    const headers = { "content-type": "application/json" };
    const response = await fetch(node.urls[0], { method: "POST", headers, body });
    console.log((await response.json()).result);
    setTimeout(() => node.stop(), 10).unref();`);
  assert.deepEqual({ code, output }, { code: 0, output: "0x7a69" });
});
