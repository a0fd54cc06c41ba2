import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { PROGRAMS } from "../../bench/evm/programs.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { WITH_METRICS } from "../support/metrics.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const CONTRACT = `0x${"cc".repeat(20)}`;
const LOOP = PROGRAMS.find(({ name }) => name === "fibonacci")!;

for (const processes of ["0", "1"]) {
  test(`a contract called often is compiled and gives the same answers, with ${processes} RPC processes; the next start finds it on disk`, async (t) => {
    const home = mkdtempSync(join(tmpdir(), "evmint-compiled-"));
    t.after(() => rmSync(home, { recursive: true, force: true }));
    const outcomeOfFirst = async () => {
      const node = await startTestNode({
        dev: true,
        home,
        settings: { ...WITH_METRICS, "evm.compile": "auto", "json-rpc.processes": processes },
      });
      try {
        return await callUntilCompiled(node);
      } finally {
        await node.stop();
      }
    };
    assert.equal(await outcomeOfFirst(), "compiled");
    assert.equal(readdirSync(join(home, "cache", "contracts")).length, 1);
    assert.equal(await outcomeOfFirst(), "stored");
  });
}

/** How the first contract that a process of `node` compiled came to be. */
async function callUntilCompiled(node: TestNode): Promise<string> {
  const call = async () => {
    const { result, error } = await callHttp(node.url, "eth_call", [
      { to: CONTRACT, data: bytesToHex(LOOP.data) },
      "latest",
      { [CONTRACT]: { code: bytesToHex(LOOP.code) } },
    ]);
    assert.equal(error, undefined, JSON.stringify(error));
    return result;
  };
  const first = await call();
  for (;;) {
    assert.equal(await call(), first);
    const outcome = await firstOutcome(node);
    if (outcome === undefined) continue;
    // Some more on the module.
    for (let i = 0; i < 20; i++) assert.equal(await call(), first);
    return outcome;
  }
}

async function firstOutcome(node: TestNode): Promise<string | undefined> {
  const listener = node.node.listeners.find(({ kind }) => kind === "metrics");
  const text = await (await fetch(listener!.url)).text();
  return /^evmint_contract_compilations_total\{.*outcome="(\w+)".*\} [1-9]/m.exec(text)?.[1];
}
