import assert from "node:assert/strict";
import { after, test } from "node:test";
import { connectPorts } from "../../../test/support/rpc/connect-ports.ts";
import { createTestModules } from "../../../test/support/rpc/test-chain.ts";
import type { TestPorts } from "../../../test/support/rpc/test-ports.ts";
import { plainData } from "../../base/threads/plain-data.ts";
import { inProcessContext } from "../transport/dispatch/context.ts";
import { toErrorObject } from "../transport/dispatch/error-codes.ts";
import { METHODS } from "./methods.ts";
import type { RpcPorts } from "./rpc-ports.ts";

const open: { close(): void }[] = [];
after(() => {
  for (const channel of open) channel.close();
});

/** Modules over the same chain, whose ports are at the other side of a `MessageChannel`. */
function connectedModules() {
  return createTestModules({}, (ports: TestPorts) => {
    const channel = connectPorts(ports);
    open.push(channel);
    return channel.ports;
  });
}

/** Each has answers of its own at each call: an id or a time. */
const RANDOM = /^(?:eth_new\w*Filter|les_benchmark|shh_\w+)$/;

for (const method of METHODS) {
  if (method.needsConnection || RANDOM.test(method.name)) continue;

  test(`${method.name} answers its example over a channel as it does directly`, async () => {
    const outcomeOf = async (modules: unknown) => {
      try {
        const result = await method.run(modules as RpcPorts, method.example ?? [], inProcessContext());
        return { result: String(plainData(result)) };
      } catch (error) {
        return { error: toErrorObject(error) };
      }
    };
    assert.deepEqual(await outcomeOf(connectedModules()), await outcomeOf(createTestModules()));
  });
}
