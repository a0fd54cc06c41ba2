import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { loadConfig } from "../../src/node/config/load.ts";
import { nodeOperations } from "../../src/node/roles/operations.ts";
import { STRICT_LOGGER } from "../support/base/telemetry/strict-logger.ts";
import { overHttp } from "../support/clients.ts";
import { makeHome, transfer } from "../support/made-chain.ts";
import { startTestNode } from "../support/test-node.ts";

const BLOCKS = 500;

const geth = onPath("geth");
const skip = geth === undefined && `geth is not on PATH: geth's import of ${BLOCKS} instant blocks is not tested`;

test(`geth imports ${BLOCKS} instant blocks of an exported chain`, {
  skip,
}, async (t) => {
  const home = makeHome();
  const datadir = mkdtempSync(join(tmpdir(), "evmint-geth-"));
  t.after(() => {
    for (const directory of [home, datadir]) rmSync(directory, { recursive: true, force: true });
  });
  const node = await startTestNode({ home, settings: { "consensus.block-time": "instant" } });
  const head = () => node.node.core.chain.head().block;
  for (let number = 0; number < BLOCKS; number++) {
    await overHttp(node.url, "eth_sendRawTransaction", [transfer(BigInt(number))]);
    await node.untilBlock(number + 1);
  }
  const { hash } = head();
  await node.stop();

  const file = join(home, "chain.rlp");
  const { config } = loadConfig({ home, dev: false, flags: {}, environment: {} });
  const { exported } = await nodeOperations.exportChain(config, STRICT_LOGGER, {
    file,
    first: undefined,
    last: undefined,
    onProgress() {},
    signal: new AbortController().signal,
  });
  assert.equal(exported, BLOCKS);

  const run = (...args: readonly string[]) =>
    promisify(execFile)(geth!, ["--datadir", datadir, ...args], { maxBuffer: 1 << 26 });
  await run("init", join(home, "config/genesis.json"));
  await run("import", file);
  const { stdout } = await run(
    "--exec",
    "eth.getBlock('latest').hash",
    "--nodiscover",
    "--ipcdisable",
    "--port",
    "0",
    "--authrpc.port",
    "0",
    "console",
  );
  assert.equal(JSON.parse(stdout.trim().split("\n").at(-1)!), hash);
});

function onPath(name: string): string | undefined {
  for (const directory of (process.env["PATH"] ?? "").split(delimiter)) {
    try {
      const path = join(directory, name);
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this one.
    }
  }
  return undefined;
}
