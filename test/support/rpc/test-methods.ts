import { InvariantError } from "../../../src/base/errors.ts";
import { ZERO_ADDRESS } from "../../../src/base/primitives/address.ts";
import type { NodeInfo } from "../../../src/rpc/ports/node.ts";
import { json, quantity, rawAsciiJson, rawJson, string } from "../../../src/rpc/transport/codec.ts";
import { createRegistry, defineMethod } from "../../../src/rpc/transport/dispatch/method.ts";
import { InvalidRequestError } from "../../../src/rpc/transport/errors.ts";

/** Methods for tests of the dispatcher and of transports. */
export const TEST_METHODS = [
  defineMethod({
    name: "test_echo",
    params: { value: json },
    result: json,
    handle: ({ value }) => value,
  }),
  defineMethod({
    name: "test_add",
    params: { a: quantity, b: quantity },
    result: quantity,
    handle: async ({ a, b }) => a + b,
  }),
  defineMethod({
    name: "test_big",
    params: { length: quantity },
    result: rawJson,
    handle: ({ length }) => Buffer.from(`"${"x".repeat(Number(length))}"`),
  }),
  defineMethod({
    name: "test_ascii",
    params: { length: quantity },
    result: rawAsciiJson,
    handle: ({ length }) => `"${"x".repeat(Number(length))}"`,
  }),
  defineMethod({
    name: "test_crash",
    params: {},
    result: string,
    handle() {
      throw new InvariantError("a bug");
    },
  }),
  defineMethod({
    name: "test_reject",
    params: {},
    result: string,
    async handle() {
      throw new InvalidRequestError("no");
    },
  }),
  defineMethod({
    name: "test_never",
    params: {},
    result: string,
    handle: () => new Promise<string>(() => {}),
  }),
  defineMethod({
    name: "test_spin",
    params: { milliseconds: quantity },
    result: string,
    heavy: true,
    handle({ milliseconds }) {
      const end = performance.now() + Number(milliseconds);
      while (performance.now() < end);
      return "done";
    },
  }),
  defineMethod({
    name: "test_private",
    params: {},
    result: string,
    private: true,
    handle: () => "secret",
  }),
  defineMethod({
    name: "test_notify",
    params: { count: quantity, text: string },
    result: string,
    needsConnection: true,
    handle({ count, text }, _modules, context) {
      context.afterReply(() => {
        for (let i = 0n; i < count; i++) {
          context.connection?.notify([JSON.stringify({ notice: text })]);
        }
      });
      return "done";
    },
  }),
];

export const TEST_REGISTRY = createRegistry(TEST_METHODS);

/** What a node of tests reports. */
export const TEST_NODE_INFO: NodeInfo = {
  clientVersion: "Evmint/v0.1.0/test",
  networkId: 1337n,
  protocolVersion: 68,
  peerCount: 0,
  isListening: true,
  coinbase: ZERO_ADDRESS,
  isValidator: true,
  syncProgress: undefined,
};
