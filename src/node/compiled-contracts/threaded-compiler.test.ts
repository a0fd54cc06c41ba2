import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { assemble } from "../../../bench/evm/programs.ts";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { testBlock, testMessage } from "../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import type { Address } from "../../base/primitives/address.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { createMetrics } from "../../base/telemetry/metrics.ts";
import { createEvm } from "../../evm/machine/engine.ts";
import { createWorldState } from "../../evm/state/world-state.ts";
import { ThreadedCompiler } from "./threaded-compiler.ts";

const contract = `0x${"cc".repeat(20)}` as Address;

test("ThreadedCompiler compiles in a thread, and an engine runs the module", async (t) => {
  const { compiler, moduleOf } = startCompiler(t, 1 << 24);
  const code = assemble("PUSH1 2a PUSH0 MSTORE PUSH1 20 PUSH0 RETURN");
  const module = await moduleOf(code);
  assert.equal(compiler.moduleOf(keccak256Hash(code), code, "osaka"), module);
  const evm = createEvm({ tier: { compiler, hotGasPerByte: 0 } });
  const state = createWorldState(createMemoryState());
  state.setAccount(contract, { nonce: 1n, balance: 0n, codeHash: state.putCode(code) });
  const { returnData } = evm.execute(testMessage({ to: contract }), testBlock(), state);
  assert.equal(returnData.at(-1), 0x2a);
});

test("ThreadedCompiler drops the modules that were asked for least recently", async (t) => {
  const { compiler, moduleOf, metric } = startCompiler(t, 20_000);
  const codes = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => assemble(`PUSH1 0${n} PUSH0 MSTORE STOP`));
  for (const code of codes) await moduleOf(code);
  assert.ok(metric("compiled_contract_bytes") <= 20_000);
  const count = metric("compiled_contracts");
  assert.ok(count > 0 && count < codes.length, `${count} modules`);
  const isKnown = (code: Uint8Array) => compiler.moduleOf(keccak256Hash(code), code, "osaka") !== undefined;
  assert.equal(isKnown(codes.at(-1)!), true);
  assert.equal(isKnown(codes[0]!), false);
});

test("ThreadedCompiler does not compile code of more blocks than a module may have, and says so", async (t) => {
  const { compiler, metric } = startCompiler(t, 1 << 24);
  const code = new Uint8Array(24_576).fill(0x5b);
  while (metric("contract_compilations_total") === 0) {
    assert.equal(compiler.moduleOf(keccak256Hash(code), code, "osaka"), undefined);
    await turn();
  }
  assert.equal(compiler.waiting, 0);
  assert.equal(compiler.moduleOf(keccak256Hash(code), code, "osaka"), undefined);
  assert.equal(compiler.waiting, 0);
});

test("what one compiler stored another takes from its file, unless the file is damaged", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "compiled-contracts-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const files = { directory, bytesMax: 1 << 20 };
  const code = assemble("PUSH1 2a PUSH0 MSTORE PUSH1 20 PUSH0 RETURN");
  const outcomeOfNext = async () => {
    const { moduleOf, metrics } = startCompiler(t, 1 << 24, files);
    await moduleOf(code);
    return /contract_compilations_total\{outcome="(\w+)"\} 1/.exec(metrics.exposition())?.[1];
  };
  assert.equal(await outcomeOfNext(), "compiled");
  assert.equal(await outcomeOfNext(), "stored");
  const [name] = readdirSync(directory);
  assert.ok(name);
  writeFileSync(join(directory, name), "damaged");
  assert.equal(await outcomeOfNext(), "compiled");
  assert.equal(await outcomeOfNext(), "stored");
});

test("without a directory to store in, contracts are compiled all the same", async (t) => {
  const file = join(mkdtempSync(join(tmpdir(), "compiled-contracts-")), "file");
  t.after(() => rmSync(dirname(file), { recursive: true, force: true }));
  writeFileSync(file, "");
  const { moduleOf, metric } = startCompiler(t, 1 << 24, { directory: file, bytesMax: 1 << 20 });
  await moduleOf(assemble("PUSH1 2a STOP"));
  assert.equal(metric("compiled_contract_file_errors_total"), 1);
});

function startCompiler(
  t: { after(fn: () => void): void },
  cacheBytesMax: number,
  files?: { readonly directory: string; readonly bytesMax: number },
) {
  const metrics = createMetrics();
  const compiler = new ThreadedCompiler({ cacheBytesMax, files }, { log: STRICT_LOGGER, metrics, timers: fatalTimers });
  t.after(() => compiler.close());
  return {
    compiler,
    metrics,
    async moduleOf(code: Uint8Array): Promise<WebAssembly.Module> {
      for (;;) {
        const module = compiler.moduleOf(keccak256Hash(code), code, "osaka");
        if (module) return module;
        await turn();
      }
    },
    /** The sum over the labels of a metric. */
    metric(name: string): number {
      return metrics
        .exposition()
        .split("\n")
        .filter((line) => line.startsWith(`evmint_${name}`))
        .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    },
  };
}
