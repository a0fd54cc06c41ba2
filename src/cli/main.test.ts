import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { clientVersion, packageVersion } from "../config/version.ts";

const entry = fileURLToPath(new URL("testing/run-main.ts", import.meta.url));

function evmintd(args: string[], environment: Record<string, string> = {}) {
  return spawnSync(process.execPath, ["--import", "tsx", entry, ...args], {
    encoding: "utf8",
    env: { ...process.env, EVMINT_HOME: "/nonexistent/home", ...environment },
  });
}

test("the process prints its version and exits with 0, all of the output written", () => {
  const { status, stdout, stderr } = evmintd(["version"]);
  assert.deepEqual(
    { status, stdout, stderr },
    { status: 0, stdout: `evmintd ${packageVersion()}\n`, stderr: "" },
  );
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
  assert.match(
    clientVersion(),
    /^Evmint\/v\d+\.\d+\.\d+[^/]*\/[a-z0-9]+-[a-z0-9]+\/node\d+\.\d+\.\d+$/,
  );
});
