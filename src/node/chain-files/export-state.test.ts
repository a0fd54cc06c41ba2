import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { createNode } from "../../index.ts";
import { loadConfig } from "../config/load.ts";
import { nodeOperations } from "../roles/operations.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-export-"));
after(() => rmSync(folder, { recursive: true }));

const STRANGER = "0x00000000000000000000000000000000000beef1";

type Line = { readonly key: string; readonly address: string };

test("export-state writes geth's lines: the root, then every account as debug_dumpBlock has it", async () => {
  const home = join(folder, "home");
  const node = await createNode({ home });
  await node.setCode(STRANGER, "0x6001");
  await node.setStorageAt(STRANGER, 1, 7);
  await node.mine();
  const dump = (await node.rpc.debug_dumpBlock("0x1")) as {
    readonly root: string;
    readonly accounts: Readonly<Record<string, Line>>;
  };
  await node.mine();
  await node.stop();

  const { config } = loadConfig({ home, dev: true, flags: {}, environment: {} });
  const file = join(folder, "state.jsonl");
  const options = { file, block: 1 };
  const { accounts } = await nodeOperations.exportState(config, STRICT_LOGGER, options);
  const [first, ...rest] = readFileSync(file, "utf8").trimEnd().split("\n");
  assert.deepEqual(JSON.parse(first!), { root: `0x${dump.root}` });
  const lines = rest.map((line) => JSON.parse(line) as Line);
  assert.equal(lines.length, accounts);
  const expected = Object.values(dump.accounts).sort((a, b) => (a.key < b.key ? -1 : 1));
  assert.deepEqual(lines, expected);
  assert.ok(lines.some(({ address }) => address === STRANGER));
  const past = { file: join(folder, "none"), block: 3 };
  await assert.rejects(nodeOperations.exportState(config, STRICT_LOGGER, past), {
    code: "UNKNOWN_RANGE",
  });
});
