import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { STRICT_LOGGER } from "../../../../test/support/base/telemetry/strict-logger.ts";
import { fakeContext } from "../../../../test/support/cli/fake-context.ts";
import { testnet } from "../../../cli/commands/testnet.ts";
import { cometbftPath, dataPath, genesisPath } from "../../config/home.ts";
import { loadConfig } from "../../config/load.ts";
import { startNode } from "../start-node.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-wrong-genesis-"));
after(() => rmSync(folder, { recursive: true }));
let count = 0;

/** Of a validator that was never started. */
function newHome(): string {
  const output = join(folder, String(count++));
  testnet({ output, validators: "1" }, fakeContext().context);
  return join(output, "validator-0");
}

function edit(file: string, change: (content: Record<string, unknown>) => object): void {
  writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, "utf8")))));
}

/** A start that has to fail before CometBFT is needed. */
async function codeOfStart(home: string, flags: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const addresses = {
    "json-rpc.address": "127.0.0.1:0",
    "json-rpc.ws-address": "127.0.0.1:0",
    "metrics.enable": "false",
    "cometbft.binary": process.execPath,
  };
  const { config } = loadConfig({ home, dev: false, flags: { ...addresses, ...flags }, environment: {} });
  try {
    const node = await startNode(config, STRICT_LOGGER);
    await node.stop();
    return undefined;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

/** A chain with block 0 in the home, which the solo engine makes. */
const SOLO = { "consensus.engine": "solo", "consensus.block-time": "manual" };

const engineGenesis = (home: string) => join(cometbftPath(home), "config", "genesis.json");

test("a genesis file that is not that of CometBFT ends the start, before a store is made of it", async () => {
  for (const change of [
    (file: Record<string, unknown>) => ({ ...file, alloc: {} }),
    (file: Record<string, unknown>) => ({ ...file, config: { ...(file["config"] as object), chainId: 77 } }),
    (file: Record<string, unknown>) => ({ ...file, config: { ...(file["config"] as object), evmint: { jail: true } } }),
    // Block 0 has the same hash.
    (file: Record<string, unknown>) => ({
      ...file,
      config: { ...(file["config"] as object), osakaTime: 4_000_000_000 },
    }),
  ]) {
    const home = newHome();
    edit(genesisPath(home), change);
    assert.equal(await codeOfStart(home), "ENGINE_GENESIS_MISMATCH");
    assert.ok(!existsSync(dataPath(home)));
  }
});

test("CometBFT's genesis of another block 0 ends the start of a chain with blocks, and so does a genesis file of another chain", async () => {
  const home = newHome();
  assert.equal(await codeOfStart(home, SOLO), undefined);
  const right = readFileSync(engineGenesis(home), "utf8");
  edit(engineGenesis(home), (file) => {
    const state = file["app_state"] as object;
    return { ...file, app_state: { ...state, evmGenesis: `0x${"11".repeat(32)}` } };
  });
  assert.equal(await codeOfStart(home), "ENGINE_GENESIS_MISMATCH");
  writeFileSync(engineGenesis(home), right);
  edit(genesisPath(home), (file) => ({ ...file, extraData: "0x01" }));
  assert.equal(await codeOfStart(home), "GENESIS_MISMATCH");
});

test("rules that CometBFT's genesis does not have are no reason to stop a chain that exists", async () => {
  const home = newHome();
  assert.equal(await codeOfStart(home, SOLO), undefined);
  edit(engineGenesis(home), (file) => {
    const state = file["app_state"] as object;
    return { ...file, app_state: { ...state, rules: "jail" } };
  });
  // CometBFT is started: a program that is none ends at once, and is no error of the start.
  assert.equal(await codeOfStart(home), undefined);
});

test("a network has one block time, and none of its own for empty blocks", async () => {
  assert.equal(await codeOfStart(newHome(), { "consensus.block-time": "1s/30s" }), "CONFIG_INVALID");
});
