import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Address } from "../../src/base/primitives/address.ts";
import type { Hash } from "../../src/base/primitives/hash.ts";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { createExecutionReads } from "../../src/node/adapters/execution-port.ts";
import { callLimitsOf } from "../../src/node/adapters/rpc-settings.ts";
import { ExecutionThreads } from "../../src/node/calls/execution-threads.ts";
import { loadConfig } from "../../src/node/config/load.ts";
import type { ExecutionReads } from "../../src/rpc/ports/execution.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { plain } from "../support/chain/plain.ts";
import { PATIENT_ENVIRONMENT, patient } from "../support/patient.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import { HANG_MS } from "../support/until.ts";

const FROM = DEV_ADDRESSES[0];
/** Counts its calls in slot 0 and returns the count, the block's number and the hash of the block before. */
const COUNTER = "0x5f546001018060005580600052436020526001430340604052606060 00f3".replace(" ", "");
/** Init code that returns the code after it. */
const deploy = (code: string) => {
  const bytes = code.slice(2);
  return `0x60${(bytes.length / 2).toString(16).padStart(2, "0")}80600b6000396000f3${bytes}`;
};
const LOOP_AT = `0x${"aa".repeat(20)}`;
const LOOP = { [LOOP_AT]: { code: "0x5b5f56" } };

async function rpc({ url }: TestNode, method: string, ...params: unknown[]) {
  const { result, error } = await callHttp(url, method, params);
  assert.equal(error, undefined, `${method}: ${JSON.stringify(error)}`);
  return result;
}

describe("execution threads", () => {
  let node: TestNode;
  let counter: Address;
  let lastHash: Hash;
  before(async () => {
    const now = Date.now();
    node = await startTestNode({
      dev: true,
      // Of two calls on the pending block, one after the other, the time of the block has to be the same.
      hooks: { wallClock: () => now },
      settings: {
        "json-rpc.gas-cap": "0",
        "json-rpc.workers": "2",
      },
    });
    lastHash = await rpc(node, "eth_sendTransaction", { from: FROM, input: deploy(COUNTER) });
    counter = (await rpc(node, "eth_getTransactionReceipt", lastHash)).contractAddress;
  });
  after(() => node.stop());

  const count = async (): Promise<void> => {
    lastHash = await rpc(node, "eth_sendTransaction", { from: FROM, to: counter });
  };

  test("give the answers of the chain's thread: every method, at every block, also pending, also after a rollback", async () => {
    const { core } = node.node;
    const { config } = loadConfig({
      home: node.home,
      dev: true,
      flags: {},
      environment: PATIENT_ENVIRONMENT,
      limits: patient(),
    });
    const limits = callLimitsOf(config);
    const tip = () => 1n;
    const here = createExecutionReads(limits, core, tip);
    const threads = new ExecutionThreads(
      {
        data: {
          store: core.store.followable!,
          cacheBytes: 1 << 24,
          config: core.chain.config,
          limits,
          genesisHash: core.chain.genesisHash,
          startPrice: 1n,
          compiles: false,
        },
        count: 1,
        waitingMax: 10,
        graceMs: HANG_MS,
        compiler: undefined,
        epoch: () => core.store.epoch,
        onLost: ({ message }, method) => assert.fail(`${method}: ${message}`),
      },
      fatalTimers,
    );
    const from = FROM.toLowerCase() as Address;
    const args = { from, to: counter };
    const requests = (): {
      [M in keyof ExecutionReads]?: Parameters<ExecutionReads[M]>[0][];
    } => {
      const head = core.chain.head().block;
      const ats = [
        0,
        1,
        head.header.number,
        "latest",
        "pending",
        { blockHash: head.hash, requireCanonical: false },
      ] as const;
      return {
        call: ats.map((at) => ({ args, at, overrides: {} })),
        estimateGas: ats.map((at) => ({ args, at, overrides: {} })),
        createAccessList: ats.map((at) => ({ args, at, overrides: {} })),
        callMany: ats.map((at) => ({ bundles: [{ calls: [args, args] }], at, request: {} })),
        simulate: ats.map((at) => ({
          request: { blocks: [{ calls: [args] }], validation: false, traceTransfers: false },
          at,
        })),
        traceTransaction: [{ hash: lastHash, request: {} }],
        traceBlock: [
          { at: head.header.number, request: { tracer: "callTracer" } },
          { at: head.hash, request: {} },
        ],
        traceCall: ats.map((at) => ({ args, at, request: {} })),
        executionWitness: [{ hash: head.header.parentHash }, { hash: head.hash }],
      };
    };
    const outcomeOf = async (run: () => unknown): Promise<unknown> => {
      try {
        return plain(await run());
      } catch (error) {
        const { name, message } = error as Error;
        return { name, message };
      }
    };
    const assertSame = async (): Promise<void> => {
      for (const [name, calls] of Object.entries(requests())) {
        const method = name as keyof ExecutionReads;
        for (const input of calls) {
          const local = here[method] as (input: unknown) => unknown;
          const expected = await outcomeOf(() => local(input));
          const pending = core.reader.pending();
          const actual = await outcomeOf(() =>
            threads.run(
              {
                method,
                input,
                ...("at" in input &&
                  input.at === "pending" &&
                  pending && { pending: { executed: pending.executed, changes: pending.changes } }),
              },
              { timeoutMs: 0, cancel: undefined },
            ),
          );
          assert.deepEqual(actual, expected, `${method} ${JSON.stringify(input)}`);
        }
      }
    };
    try {
      await assertSame();
      await count();
      await assertSame();
      await count();
      const beforeRollback = lastHash;
      await count();
      const { executed, changes } = core.reader.pending()!;
      const ofRemoved = () =>
        threads.run(
          { method: "call", input: { args, at: "pending", overrides: {} }, pending: { executed, changes } },
          { timeoutMs: 0, cancel: undefined },
        );
      core.chain.rollbackTo(core.chain.head().block.header.number - 1);
      lastHash = beforeRollback;
      await assertSame();
      await assert.rejects(ofRemoved, { code: "RPC_PENDING_UNAVAILABLE" });
    } finally {
      await threads.close();
    }
  });

  test("a trace that was asked for after a transaction was seen knows its block", async () => {
    for (let i = 0; i < 10; i++) {
      await count();
      const [trace] = await Promise.all([
        rpc(node, "debug_traceTransaction", lastHash, { tracer: "callTracer" }),
        callHttp(node.url, "debug_traceCall", [{ to: LOOP_AT, gas: "0x10000" }, "latest", { stateOverrides: LOOP }]),
      ]);
      assert.equal(trace.to, counter);
    }
  });

  test("a call that loops delays neither blocks nor the calls of others", async () => {
    let ended = 0;
    const loop = callHttp(node.url, "eth_call", [{ to: LOOP_AT, gas: "0x7fffffffffffffff" }, "latest", LOOP]).finally(
      () => ended++,
    );
    const outcome = Promise.allSettled([loop]);
    for (let i = 1; i <= 20; i++) {
      await count();
      const number = await rpc(node, "eth_blockNumber");
      const result = await rpc(node, "eth_call", { to: counter }, "latest");
      assert.equal(
        BigInt(result.slice(0, 66)),
        BigInt(await rpc(node, "eth_getStorageAt", counter, "0x0", number)) + 1n,
      );
    }
    assert.equal(ended, 0);
    await node.stop();
    await outcome;
  });
});
