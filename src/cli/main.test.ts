import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { testProgram } from "../../test/support/test-program.ts";
import { clientVersion, packageVersion } from "../node/config/package.ts";

const entry = testProgram(new URL("../../test/support/cli/run-main.ts", import.meta.url));

function evmintd(args: string[], environment: Record<string, string> = {}) {
  return spawnSync(process.execPath, [...entry.execArgv, entry.file, ...args], {
    encoding: "utf8",
    env: { ...process.env, EVMINT_HOME: "/nonexistent/home", ...environment },
  });
}

test("the process prints its version and exits with 0, all of the output written", () => {
  const { status, stdout, stderr } = evmintd(["version"]);
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: `evmintd ${packageVersion()}\n`, stderr: "" });
});

test("the process exits with 2 for a flag it does not know and names the nearest", () => {
  const { status, stdout, stderr } = evmintd(["start", "--json-rpc.ws-adress", "x"]);
  assert.equal(status, 2);
  assert.equal(stdout, "");
  assert.ok(stderr.includes("--json-rpc.ws-address"));
});

test("the process takes settings from its environment", () => {
  const { status, stdout } = evmintd(["config", "show"], { EVMINT_CHAIN_NAME: "Elsewhere" });
  assert.equal(status, 0);
  assert.match(stdout, /^chain\.name = "Elsewhere"$/m);
});

test("clientVersion names client, version, system and runtime", () => {
  assert.match(clientVersion(), /^Evmint\/v\d+\.\d+\.\d+[^/]*\/[a-z0-9]+-[a-z0-9]+\/node\d+\.\d+\.\d+$/);
});

const fakeNode = testProgram(new URL("../../test/support/cli/run-fake-node.ts", import.meta.url));

/** A dev node that does nothing, once its banner is out. */
async function startFakeNode(mode: "stop" | "hang") {
  const home = "/nonexistent/home";
  const args = [...fakeNode.execArgv, fakeNode.file, mode, "start", "--dev", "--home", home];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exit = once(child, "exit") as Promise<[number | null, string | null]>;
  await once(child.stdout, "data");
  return { child, exit };
}

test("SIGTERM stops a node cleanly, SIGINT too", async () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const { child, exit } = await startFakeNode("stop");
    child.kill(signal);
    assert.deepEqual(await exit, [0, null]);
  }
});

test("a second signal ends the process at once", async () => {
  const { child, exit } = await startFakeNode("hang");
  let output = "";
  const stopping = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk) => {
      output += chunk;
      if (output.includes("stopping")) resolve();
    });
  });
  child.kill("SIGINT");
  // Two signals sent at once may arrive as one.
  await stopping;
  child.kill("SIGINT");
  assert.deepEqual(await exit, [130, null]);
});

test("a reader that goes away does not stop the node", async () => {
  const { child, exit } = await startFakeNode("stop");
  child.stdout.destroy();
  child.kill("SIGTERM");
  assert.deepEqual(await exit, [0, null]);
});
