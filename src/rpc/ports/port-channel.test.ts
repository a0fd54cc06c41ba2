import assert from "node:assert/strict";
import { test } from "node:test";
import { connectPorts } from "../../../test/support/rpc/connect-ports.ts";
import { ALICE, createTestModules } from "../../../test/support/rpc/test-chain.ts";
import { InvariantError, NodeError } from "../../base/errors.ts";
import type { CancelToken } from "../../base/threads/cancel-token.ts";
import { ExecutionRevertedError } from "../../evm/execution/call/call-errors.ts";
import { toErrorObject } from "../transport/dispatch/error-codes.ts";
import type { ChainView } from "./chain-view.ts";
import type { ServedPorts } from "./port-channel.ts";

const direct = createTestModules();

/** Both ends of a channel to the test chain with what `replace` has instead. */
function connected(replace: Partial<ChainView> = {}, execution: ServedPorts["execution"] = {}) {
  const { inspection, keys, node, tools, contracts } = direct;
  const failures: unknown[] = [];
  const server = connectPorts(
    {
      inspection,
      keys,
      node,
      tools,
      contracts,
      execution,
      dev: {},
      les: {},
      shh: {},
      runtime: {},
      chain: { ...direct.chain, ...replace },
    },
    (error) => failures.push(error),
  );
  return { server, client: server.ports, failures };
}

test("a rejection crosses with its name, code, details and cause, and keeps its JSON-RPC error", async () => {
  const cause = new Error("disk");
  const reverted = Object.assign(new ExecutionRevertedError(Uint8Array.of(1, 2)), { cause });
  const { client, server } = connected(
    {},
    {
      call() {
        throw reverted;
      },
    },
  );
  const received = await Promise.resolve(client.execution.call({ args: {}, at: "latest", overrides: {} })).then(
    () => assert.fail("must be rejected"),
    (error: unknown) => error,
  );
  assert.ok(received instanceof NodeError);
  assert.deepEqual(
    [received.name, received.code, received.message, received.details, received.stack],
    [reverted.name, reverted.code, reverted.message, reverted.details, reverted.stack],
  );
  assert.deepEqual((received.cause as Error).message, "disk");
  assert.deepEqual(toErrorObject(received), toErrorObject(reverted));
  server.close();
});

test("a bug stays a bug: it is no rejection on the other side", async () => {
  const { client, server } = connected({
    head() {
      throw new InvariantError("broken");
    },
  });
  const received = await Promise.resolve(client.chain.head()).catch((error: unknown) => error);
  assert.ok(received instanceof Error && !(received instanceof NodeError));
  assert.deepEqual([received.name, received.message], ["InvariantError", "broken"]);
  server.close();
});

test("what is no plain data is a bug of the server, what nobody serves too", async () => {
  const { client, server } = connected({
    poolCounts: () => ({ pending: 1, queued: (() => 2) as unknown as number }),
    head: () => new (class Sealed {})() as never,
  });
  for (const call of [
    () => client.chain.poolCounts(),
    () => client.chain.head(),
    () => client.execution.estimateGas({ args: {}, at: "latest", overrides: {} }),
  ]) {
    await assert.rejects(async () => await call(), { name: "InvariantError" });
  }
  server.close();
});

test("a small view of a large buffer crosses without the buffer", async () => {
  const { client, server } = connected({
    code: () => new Uint8Array(1 << 20).subarray(5, 9),
  });
  const code = await client.chain.code({ address: ALICE, at: "latest" });
  assert.deepEqual([code.length, code.buffer.byteLength], [4, 4]);
  server.close();
});

test("an aborted call is aborted on the server", async () => {
  let token: CancelToken | undefined;
  const { client, server } = connected({
    logs: ({ cancel }) =>
      new Promise((_resolve, reject) => {
        token = cancel;
        cancel?.signal.addEventListener("abort", () => reject(new Error("aborted")));
      }),
  });
  const caller = new AbortController();
  const cancel = { isAborted: false, signal: caller.signal };
  const query = { terms: {}, from: 0, to: 1 };
  const found = client.chain.logs({ query, limits: direct.settings.logLimits, cancel });
  await client.chain.head();
  assert.equal(token?.isAborted, false);
  caller.abort();
  await assert.rejects(async () => await found, { message: "aborted" });
  assert.equal(token?.isAborted, true);
  server.close();
});

test("events come in order until the subscription ends; a listener that throws harms no other", async () => {
  const { client, server, failures } = connected();
  const seen: string[] = [];
  client.chain.subscribe({
    onBlock() {
      throw new Error("listener");
    },
  });
  const stop = client.chain.subscribe({
    onBlock: ({ block }) => seen.push(block.hash),
    onPending: (transactions) => seen.push(...transactions.map(({ tx }) => tx.hash)),
  });
  await client.chain.head();
  await direct.emitter.block(direct.blocks[1]!);
  await direct.emitter.pending(direct.pooled);
  await client.chain.head();
  const expected = [direct.blocks[1]!.block.hash, ...direct.pooled.map(({ tx }) => tx.hash)];
  assert.deepEqual(seen, expected);
  assert.equal(failures.length, 1);
  stop();
  await client.chain.head();
  await direct.emitter.block(direct.blocks[2]!);
  await client.chain.head();
  assert.deepEqual(seen, expected);
  server.close();
});

test("calls under way and later ones fail when the server closes", async () => {
  const { client, server } = connected({ suggestTip: () => new Promise(() => {}) });
  const waiting = client.chain.suggestTip();
  server.close();
  await assert.rejects(async () => await waiting, { code: "RPC_CHAIN_UNREACHABLE" });
  await assert.rejects(async () => await client.chain.head(), { code: "RPC_CHAIN_UNREACHABLE" });
});
