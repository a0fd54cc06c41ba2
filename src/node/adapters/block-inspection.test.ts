import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createTestModules } from "../../../test/support/rpc/test-chain.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { createBlockInspection } from "./block-inspection.ts";

test("writeStandardTraces has the execution port trace a block of the chain, and executes nothing itself", async () => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-traces-"));
  try {
    const { backend, blocks } = createTestModules();
    const { hash, transactions } = blocks[1]!.block;
    const asked: unknown[] = [];
    const inspection = createBlockInspection(
      { trace: {} as never, memoryBytesMax: 0 },
      {
        core: { reader: backend.reader, store: {}, execution: {} } as never,
        production: { badBlocks: new Map() } as never,
        execution: {
          traceRawBlock: () => assert.fail(),
          traceBlock({ at, request }) {
            asked.push([at, request]);
            return transactions.map(({ hash: txHash }, i) => ({ txHash, result: `${i}\n` }));
          },
          traceTransaction({ hash: txHash, request }) {
            asked.push([txHash, request]);
            return [Buffer.from("one "), Buffer.from("piece\n")];
          },
        },
        files: { forWriting: (name) => join(folder, name.replace("/", "-")), forReading: () => assert.fail() },
        timers: fatalTimers,
      },
    );
    const all = await inspection.writeStandardTraces({ hash, which: "chain", request: { disableStack: true } });
    assert.deepEqual(
      all.map((path) => readFileSync(path, "utf8")),
      transactions.map((_, i) => `${i}\n`),
    );
    const txHash = transactions[1]!.hash;
    const one = await inspection.writeStandardTraces({ hash, which: "chain", request: { txHash } });
    assert.deepEqual(
      one.map((path) => readFileSync(path, "utf8")),
      ["one piece\n"],
    );
    assert.deepEqual(asked, [
      [hash, { disableStack: true, asLines: true }],
      [txHash, { asLines: true }],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
