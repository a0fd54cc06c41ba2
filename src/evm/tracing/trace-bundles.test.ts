import assert from "node:assert/strict";
import { test } from "node:test";
import { alice, allocWith, contract, testChain } from "../../../test/support/evm/execution/factories.ts";
import type { Hex } from "../../base/primitives/hex.ts";
import { createEvm } from "../machine/engine.ts";
import { textString } from "./json-writer.ts";
import { createTracers } from "./native-tracers.ts";
import { createTraceBudget } from "./trace-budget.ts";
import { traceBundles } from "./trace-call.ts";
import type { TraceOptions } from "./trace-message.ts";

const tracers = createTracers({ scriptMemoryBytesMax: 32 * 2 ** 20 });
const call = { from: alice, to: contract };

function trace(code: Hex, bundles: Parameters<typeof traceBundles>[0], more: Partial<TraceOptions> = {}) {
  const { genesis, modules } = testChain(allocWith(code));
  const { header, state, blockHash } = genesis;
  const traces = traceBundles(
    bundles,
    { header, state, blockHash },
    { ...modules, evm: createEvm() },
    {
      tracers,
      tracer: "callTracer",
      budget: createTraceBudget({ timeoutMs: 3_600_000, charsMax: 1e6 }),
      ...more,
    },
  );
  return {
    number: header.number,
    traces: traces.map((bundle) => bundle.map((text) => JSON.parse(textString(text)))),
  };
}

test("traceBundles shows each call what those before it did, in every bundle", () => {
  // Adds one to slot 0 and returns it.
  const counter: Hex = "0x5f54600101805f555f5260205ff3";
  const { traces } = trace(counter, [{ calls: [call, call] }, { calls: [call] }]);
  const outputs = traces.map((bundle) => bundle.map(({ output }) => Number(output)));
  assert.deepEqual(outputs, [[1, 2], [3]]);
});

test("traceBundles puts each bundle a block after the one before, unless it says otherwise", () => {
  // Returns NUMBER.
  const code: Hex = "0x435f5260205ff3";
  const { number, traces } = trace(code, [
    { calls: [call] },
    { calls: [call] },
    { calls: [call], blockOverrides: { number: 77n } },
  ]);
  assert.deepEqual(
    traces.map(([shown]) => Number(shown.output)),
    [number, number + 1, 77],
  );
});

test("all traces of traceBundles share one budget", () => {
  const many = Array.from({ length: 50 }, () => call);
  const budget = createTraceBudget({ timeoutMs: 3_600_000, charsMax: 2_000 });
  assert.throws(() => trace("0x", [{ calls: many }], { budget }), { code: "TRACE_TOO_LARGE" });
});
