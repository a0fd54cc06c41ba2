/** A chain of this node whose genesis has London, and so the rules of the merge, begin at a later block. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { nextGasLimit } from "../../src/base/params/fees.ts";
import { overHttp } from "../support/clients.ts";
import { startTestNode } from "../support/test-node.ts";

const GAS_LIMIT = 30_000_000n;
const LONDON = 3;
const ZERO = `0x${"00".repeat(20)}`;
const BEFORE_LONDON = ["homestead", "eip150", "eip155", "eip158", "byzantium", "constantinople", "petersburg"];

type Shown = { readonly number: string; readonly gasLimit: string; readonly baseFeePerGas?: string };

function genesis(): string {
  const old = [...BEFORE_LONDON, "istanbul", "berlin"].map((name) => [`${name}Block`, 0]);
  const config = {
    chainId: 9000,
    ...Object.fromEntries(old),
    londonBlock: LONDON,
    terminalTotalDifficulty: 0,
  };
  const gasLimit = `0x${GAS_LIMIT.toString(16)}`;
  return JSON.stringify({ config, difficulty: "0x0", gasLimit, timestamp: "0x6553f100", alloc: {} });
}

test("a chain grows past its first London block, where the gas limit doubles, and pays no rewards", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "evmint-london-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, "genesis.json");
  writeFileSync(file, genesis());
  const settings = { "consensus.block-time": "manual", "consensus.gas-limit": `${2n * GAS_LIMIT}` };
  const node = await startTestNode({ genesis: file, settings });
  t.after(() => node.stop());

  const shown = async (block: string) =>
    (await overHttp(node.url, "eth_getBlockByNumber", [block, false])).result as Shown;
  let limit = GAS_LIMIT;
  for (let number = 1; number <= LONDON + 2; number++) {
    limit = nextGasLimit(number === LONDON ? 2n * limit : limit, 2n * GAS_LIMIT);
    const pending = await shown("pending");
    node.produceBlock();
    const latest = await shown("latest");
    for (const block of [pending, latest]) {
      assert.equal(Number(block.number), number);
      assert.equal(BigInt(block.gasLimit), limit, `block ${number}`);
      assert.equal(block.baseFeePerGas !== undefined, number >= LONDON, `block ${number}`);
    }
  }
  const { result } = await overHttp(node.url, "eth_getBalance", [ZERO, "latest"]);
  assert.equal(result, "0x0");
});
