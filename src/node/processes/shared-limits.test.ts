import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_RPC_LIMITS } from "../../rpc/transport/limits.ts";
import { loadConfig } from "../config/load.ts";
import { sharedConfig, sharedLimits } from "./shared-limits.ts";

/** Every limit that bounds all connections together. A new limit of the server has to be decided on here. */
const OF_ALL = ["httpConnectionsMax", "wsConnectionsMax", "callQueueMax", "inputBytesMax", "outputBytesMax"];

test("the shares of all processes add up to each limit of all connections, and other limits stay whole", () => {
  for (const count of [1, 2, 3, 7, 64]) {
    const shares = Array.from({ length: count }, (_, index) => sharedLimits(DEFAULT_RPC_LIMITS, index, count));
    for (const [name, limit] of Object.entries(DEFAULT_RPC_LIMITS)) {
      const values = shares.map((share) => (share as Record<string, number>)[name]!);
      if (OF_ALL.includes(name)) {
        assert.equal(
          values.reduce((sum, value) => sum + value, 0),
          limit,
          name,
        );
        assert.ok(Math.max(...values) - Math.min(...values) <= 1, name);
      } else assert.deepEqual(new Set(values), new Set([limit]), name);
    }
  }
});

test("json-rpc.workers are divided among the processes, each of which has one, and 0 is none in any", () => {
  const workersOf = (workers: number, count: number) => {
    const { config } = loadConfig({
      home: "/nowhere",
      dev: false,
      environment: {},
      flags: { "json-rpc.workers": String(workers) },
    });
    return Array.from({ length: count }, (_, index) => sharedConfig(config, index, count).jsonRpc.workers);
  };
  assert.deepEqual(workersOf(0, 3), [0, 0, 0]);
  assert.deepEqual(workersOf(2, 3), [1, 1, 1]);
  assert.deepEqual(workersOf(7, 3), [3, 2, 2]);
});
