import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { Channel, ServedCall } from "../../base/threads/channel.ts";
import { forwarded, type RpcPorts } from "../../rpc/methods/rpc-ports.ts";
import { string } from "../../rpc/transport/codec.ts";
import { CallQueue } from "../../rpc/transport/dispatch/call-queue.ts";
import { createRegistry, defineMethod } from "../../rpc/transport/dispatch/method.ts";
import { MethodNotFoundError } from "../../rpc/transport/errors.ts";
import { ServedCalls } from "./served-calls.ts";

const answers = (name: string) => defineMethod({ name, params: {}, result: string, handle: () => name });

test("ServedCalls runs what is forwarded and served, and nothing else for another process", () => {
  const methods = [forwarded(answers("eth_coinbase")), forwarded(answers("admin_nodeInfo")), answers("eth_chainId")];
  const { handlers } = new ServedCalls(
    {
      registry: createRegistry(methods as never),
      ports: {} as RpcPorts,
      serving: undefined,
      tracer: undefined,
      queue: new CallQueue({ waitingMax: 1, onWaiting() {} }, new ManualTimers()),
      isServed: (method) => method.startsWith("eth_"),
    },
    new Channel(() => {}),
  );
  const run = (method: string) =>
    handlers.run(
      { method, params: [], transport: "http", connection: undefined, address: undefined, traceparent: undefined },
      new ServedCall(undefined),
    );
  assert.equal(run("eth_coinbase"), '"eth_coinbase"');
  for (const method of ["admin_nodeInfo", "eth_chainId", "eth_unknown"]) {
    assert.throws(() => run(method), MethodNotFoundError, method);
  }
});
