import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { InvariantError, NodeError } from "../errors.ts";
import { type Channel, channelOver, type Handlers, type MessageEnd, Moved, type ServedCall } from "./channel.ts";

class TestRejection extends NodeError {
  readonly code = "DEV_CONTROL";
}

const open: MessagePort[] = [];
afterEach(() => {
  for (const port of open.splice(0)) port.close();
});

/** A channel to a side that offers `here`. */
function connected<Here extends Handlers>(here: Here, there: Handlers = {}) {
  const { port1, port2 } = new MessageChannel();
  open.push(port1);
  const server: Channel = channelOver(port1 as MessageEnd, here);
  const client: Channel<Here> = channelOver<Here>(port2 as MessageEnd, there);
  return { client, server };
}

test("a call has its function's answer, at once or later, and both sides may call", async () => {
  const { client, server } = connected(
    {
      add: ({ a, b }: { readonly a: bigint; readonly b: bigint }) => a + b,
      later: async (value: string) => `${value} later`,
    },
    { name: (_input: undefined) => "client" },
  );
  assert.equal(await client.call("add", { a: 1n, b: 2n }), 3n);
  assert.equal(await client.call("later", "it is"), "it is later");
  assert.equal(await server.call("name", undefined as never), "client");
});

test("a rejection keeps its class of errors, code and details, and a bug stays one", async () => {
  const cause = new Error("disk");
  const { client } = connected({
    reject(_input: undefined) {
      throw Object.assign(new TestRejection("no", { amount: 1n }), { cause });
    },
    fail: (_input: undefined) => Promise.reject(new InvariantError("broken")),
  });
  await assert.rejects(client.call("reject", undefined), (error) => {
    assert.ok(error instanceof NodeError);
    assert.deepEqual(
      [error.name, error.code, error.message, error.details, (error.cause as Error).message],
      ["TestRejection", "DEV_CONTROL", "no", { amount: 1n }, "disk"],
    );
    return true;
  });
  await assert.rejects(client.call("fail", undefined), (error) => {
    assert.ok(error instanceof Error && !(error instanceof NodeError));
    assert.equal(error.name, "InvariantError");
    return true;
  });
});

test("an unsendable input and an unknown name fail only their own call", async () => {
  const { client } = connected({ make: (_input: undefined) => () => {}, echo: (id: number) => id });
  await assert.rejects(client.call("make", undefined), { name: "DataCloneError" });
  await assert.rejects(client.call("toString" as "echo", 1), { name: "InvariantError" });
  await assert.rejects(client.call("echo", (() => {}) as never), { name: "DataCloneError" });
  assert.equal(await client.call("echo", 2), 2);
});

test("a call is aborted with its caller, also with one that gave up before", async () => {
  const { client } = connected({
    wait: (_input: undefined, call: ServedCall) =>
      new Promise((_resolve, reject) => {
        const give = () => reject(new TestRejection(String(call.isAborted)));
        if (call.isAborted) give();
        else call.signal.addEventListener("abort", give);
      }),
    note: (_input: undefined) => "alive",
  });
  const caller = new AbortController();
  const cancel = { isAborted: false, signal: caller.signal };
  const waiting = client.call("wait", undefined, { cancel });
  assert.equal(await client.call("note", undefined), "alive");
  caller.abort();
  await assert.rejects(waiting, { message: "true" });
  const gone = { isAborted: true, signal: AbortSignal.abort() };
  await assert.rejects(client.call("wait", undefined, { cancel: gone }), { message: "true" });
});

test("an immediate answer keeps its place among the events around it", async () => {
  const seen: string[] = [];
  const { client, server } = connected({}, { note: (event: string) => seen.push(event) });
  server.serve({
    emit(_input: undefined, call: ServedCall) {
      server.emit("note", "before" as never);
      call.afterReply = () => server.emit("note", "after" as never);
      return "answer";
    },
  });
  seen.push((await (client as Channel).call("emit", undefined as never)) as string);
  await nextTurn();
  await nextTurn();
  assert.deepEqual(seen, ["before", "answer", "after"]);
});

test("buffers of inputs and results are moved, not copied", async () => {
  const { client } = connected({
    give(bytes: Uint8Array<ArrayBuffer>) {
      assert.equal(bytes.length, 4);
      return new Moved(bytes, [bytes.buffer]);
    },
  });
  const bytes = Uint8Array.of(1, 2, 3, 4);
  const given = await client.call("give", bytes, { attached: [bytes.buffer] });
  assert.deepEqual([...(given as Uint8Array)], [1, 2, 3, 4]);
  assert.equal(bytes.length, 0);
});

test("closing a channel fails its calls and aborts the other side's", async () => {
  const calls: ServedCall[] = [];
  const { client, server } = connected({
    wait(_input: undefined, call: ServedCall) {
      calls.push(call);
      return new Promise(() => {});
    },
    note: (_input: undefined) => 1,
  });
  const waiting = client.call("wait", undefined);
  await client.call("note", undefined);
  server.close(() => new TestRejection("gone"));
  assert.equal(calls[0]!.isAborted, true);
  client.close(() => new TestRejection("gone"));
  await assert.rejects(waiting, { code: "DEV_CONTROL" });
  await assert.rejects(client.call("note", undefined), { code: "DEV_CONTROL" });
  client.emit("note", undefined);
});
