import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

/**
 * Hardhat 3 wants Node 22.13 and binaries of its own, so it is no dependency. `HARDHAT_DIR` names a folder where it is
 * installed; a newer Node comes from the npm package `node` in the same folder, or is the one that runs this test.
 */
const folder = process.env["HARDHAT_DIR"];
const modules = folder && join(folder, "node_modules");
const skip =
  modules && existsSync(join(modules, "hardhat"))
    ? false
    : "left out: HARDHAT_DIR names no folder with Hardhat 3 (see CONTRIBUTING.md)";

const token = contract("Token");
let node: TestNode;
let project: string;

before(async () => {
  if (skip) return;
  node = await startTestNode({ dev: true });
  project = mkdtempSync(join(tmpdir(), "evmint-hardhat-"));
  symlinkSync(modules!, join(project, "node_modules"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
  const network = { type: "http", url: node.url, accounts: "remote" };
  writeFileSync(
    join(project, "hardhat.config.ts"),
    `import { defineConfig } from "hardhat/config";
     export default defineConfig({ networks: { evmint: ${JSON.stringify(network)} } });`,
  );
});
after(async () => {
  if (skip) return;
  await node.stop();
  rmSync(project, { recursive: true, force: true });
});

/** What `script` leaves in `answer`, run by Hardhat with the provider of the node's network. */
async function hardhatRun(script: string): Promise<Readonly<Record<string, unknown>>> {
  writeFileSync(
    join(project, "script.ts"),
    `import { network } from "hardhat";
     const { provider } = await network.connect("evmint");
     const ask = (method, ...params) => provider.request({ method, params });
     const answer = {};
     ${script}
     console.log("answer " + JSON.stringify(answer));`,
  );
  const newer = join(modules!, "node", "bin", "node");
  const { stdout } = await promisify(execFile)(
    existsSync(newer) ? newer : process.execPath,
    [
      join(modules!, "hardhat", "dist", "src", "cli.js"),
      ...["run", "--no-compile", "--network", "evmint", "script.ts"],
    ],
    { cwd: project, env: { ...process.env, HARDHAT_DISABLE_TELEMETRY_PROMPT: "true", CI: "1" } },
  );
  const line = stdout.split("\n").find((text) => text.startsWith("answer "));
  assert.ok(line, stdout);
  return JSON.parse(line.slice("answer ".length)) as Record<string, unknown>;
}

test("Hardhat 3 deploys and sends from accounts the node manages", { skip }, async () => {
  const supply = "3e8".padStart(64, "0");
  const transfer = `a9059cbb${DEV_ADDRESSES[1].slice(2).padStart(64, "0")}${"190".padStart(64, "0")}`;
  const answer = await hardhatRun(`
    const [from] = (answer.accounts = await ask("eth_accounts"));
    const receiptOf = async (tx) => {
      const hash = await ask("eth_sendTransaction", { from, ...tx });
      for (;;) {
        const receipt = await ask("eth_getTransactionReceipt", hash);
        if (receipt) return receipt;
      }
    };
    const { contractAddress: to } = await receiptOf({ data: "${token.bytecode}${supply}" });
    answer.sent = await receiptOf({ to, data: "0x${transfer}" });
    const balanceOf = "0x70a08231${DEV_ADDRESSES[1].slice(2).padStart(64, "0")}";
    answer.balance = await ask("eth_call", { to, data: balanceOf }, "latest");
  `);
  assert.deepEqual(
    (answer["accounts"] as string[]).slice(0, 2).map((address) => address.toLowerCase()),
    DEV_ADDRESSES.slice(0, 2).map((address) => address.toLowerCase()),
  );
  const sent = answer["sent"] as { status: string; from: string; logs: unknown[] };
  assert.equal(sent.status, "0x1");
  assert.equal(sent.logs.length, 1);
  assert.equal(BigInt(answer["balance"] as string), 400n);
});
