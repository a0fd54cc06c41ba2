import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readRecording, writeChain } from "../differential/recording.ts";
import { type RecordedChain, startRecordedChain } from "../support/recorded-chain.ts";
import { readSession, SESSIONS, type Session, sendBatch } from "./session-file.ts";

/*
 * Sessions of explorers, recorded by record.ts: every answer has to be the same again. Answers by geth are those of geth 1.17.10; the
 * others are compared below with what geth answered about the same transactions.
 */

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
type Json = any;

/** P256VERIFY of EIP-7951 */
const LAST_PRECOMPILE = 0x100;

/** What geth answers otherwise, by method and first parameter, and why; see docs/compliance.md. */
const OWN_WAY: Readonly<Record<string, string>> = {
  web3_clientVersion: "its own name",
};

/** Namespaces that geth does not have. */
const NOT_OF_GETH = /^(?:ots|erigon|trace)_/;

/** The client version names the machine and the Node.js that it was recorded on. */
function ofThisNode(answer: Json): Json {
  const { platform, arch, versions } = process;
  const [name, version] = answer.result.split("/");
  return { result: [name, version, `${platform}-${arch}`, `node${versions.node}`].join("/") };
}

const resultsOf = (session: Session, method: string): readonly (readonly [Json[], Json])[] =>
  session
    .flat()
    .filter((entry) => entry.method === method)
    .map(({ params, answer }) => [params as Json[], answer.result]);

describe("recorded sessions", () => {
  const dir = mkdtempSync(join(tmpdir(), "evmint-sessions-"));
  const otterscan = readSession("otterscan");
  const blockscout = readSession("blockscout");
  /** callTracer's frames of each transaction, by geth. */
  const frames = new Map<string, Json>();
  let chain: RecordedChain;

  before(async () => {
    chain = await startRecordedChain(writeChain(readRecording("scenario"), dir));
    for (const [, traces] of resultsOf(blockscout, "debug_traceBlockByNumber")) {
      for (const { txHash, result } of traces) frames.set(txHash, result);
    }
  });
  after(async () => {
    await chain.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  for (const name of SESSIONS) {
    test(`${name}: every answer is the recorded one`, async () => {
      for (const batch of readSession(name)) {
        const answers = await sendBatch(chain.url, batch);
        for (const [i, { method, params, answer }] of batch.entries()) {
          const expected = method === "web3_clientVersion" ? ofThisNode(answer) : answer;
          assert.deepEqual(answers[i], expected, `${method} ${JSON.stringify(params)}`);
        }
      }
    });

    test(`${name}: geth gives the same where it has the method`, () => {
      for (const { method, params, by } of readSession(name).flat()) {
        const key = `${method} ${params[0] ?? ""}`.trim();
        const isOurs = by === "evmint" && !NOT_OF_GETH.test(method);
        assert.equal(isOurs, key in OWN_WAY, key);
      }
    });
  }

  test("ots_traceTransaction has the frames of geth's callTracer, in order", () => {
    const traces = resultsOf(otterscan, "ots_traceTransaction");
    assert.ok(traces.length > 20);
    for (const [[hash], trace] of traces) {
      const expected: Json[] = [];
      const walk = ({ from, input, calls = [] }: Json, depth: number) => {
        expected.push([depth, from, input]);
        for (const call of calls) walk(call, depth + 1);
      };
      walk(frames.get(hash), 0);
      const shown = trace.map(({ depth, from, input }: Json) => [depth, from, input]);
      assert.deepEqual(shown, expected, hash);
    }
  });

  test("trace_block has a frame for each of geth's callTracer that is not a call of a precompile without value", () => {
    const blocks = resultsOf(blockscout, "trace_block");
    assert.ok(blocks.length > 3);
    for (const [, traces] of blocks) {
      for (const hash of new Set<string>(traces.map((trace: Json) => trace.transactionHash))) {
        let expected = 0;
        const walk = ({ calls = [] }: Json) => {
          expected++;
          for (const call of calls) {
            if (Number(call.to) > LAST_PRECOMPILE || Number(call.value ?? 0) > 0) walk(call);
          }
        };
        walk(frames.get(hash));
        const shown = traces.filter((trace: Json) => trace.transactionHash === hash);
        assert.equal(shown.length, expected, hash);
      }
    }
  });

  test("pages of ots_searchTransactions are newest first and about the address", () => {
    for (const [[address], page] of resultsOf(otterscan, "ots_searchTransactionsBefore")) {
      const numbers: number[] = page.txs.map(({ blockNumber }: Json) => Number(blockNumber));
      assert.deepEqual(
        numbers,
        [...numbers].sort((a, b) => b - a),
      );
      assert.equal(page.receipts.length, page.txs.length);
      for (const [i, tx] of page.txs.entries()) {
        assert.equal(page.receipts[i].transactionHash, tx.hash);
        const text = JSON.stringify([tx, page.receipts[i], frames.get(tx.hash) ?? address]);
        assert.ok(text.toLowerCase().includes(address.slice(2)), `${address} in ${tx.hash}`);
      }
    }
  });
});
