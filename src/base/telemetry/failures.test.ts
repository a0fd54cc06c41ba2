import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { ErrorCode } from "../error-codes.ts";
import { errorClassOf, InvariantError, NodeError } from "../errors.ts";
import { createFailures } from "./failures.ts";
import { type LogData, SILENT_LOGGER } from "./logger.ts";
import { createMetrics } from "./metrics.ts";

class Rejection extends NodeError {
  readonly code: ErrorCode;
  constructor(code: ErrorCode) {
    super(code);
    this.code = code;
  }
}

test("errorClassOf tells the caller's, the operator's and our failures apart", () => {
  for (const code of ["TX_NONCE_IS_MAX", "POOL_FULL", "RPC_INVALID_PARAMS"] as const) {
    assert.equal(errorClassOf(new Rejection(code)), "caller");
  }
  for (const code of ["STORE_DISK_FULL", "TRIE_NODE_MISSING", "POOL_JOURNAL_WRITE", "CLOCK_JUMP"] as const) {
    assert.equal(errorClassOf(new Rejection(code)), "operator");
  }
  const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  assert.equal(errorClassOf(full), "operator");
  const wrongType = Object.assign(new TypeError("type"), { code: "ERR_INVALID_ARG_TYPE" });
  for (const bug of [new TypeError("x"), new InvariantError("y"), wrongType, "text", undefined]) {
    assert.equal(errorClassOf(bug), "internal");
  }
});

function failuresOf() {
  const errors: (LogData | undefined)[] = [];
  const metrics = createMetrics();
  const log = { ...SILENT_LOGGER, error: (_: string, data?: LogData) => void errors.push(data) };
  const failures = createFailures(log, metrics);
  const count = (kind: string, where: string) =>
    metrics.exposition().includes(`evmint_failures_total{class="${kind}",where="${where}"} 1\n`);
  return { failures, errors, count };
}

test("report counts every failure and logs those no caller can act on", () => {
  const { failures, errors, count } = failuresOf();
  const [rejection, full, bug] = [new Rejection("POOL_FULL"), new Rejection("STORE_DISK_FULL"), new TypeError("bug")];
  assert.equal(failures.report("a", rejection), "caller");
  assert.equal(failures.report("b", full), "operator");
  assert.equal(failures.report("c", bug), "internal");
  assert.deepEqual(
    errors.map((data) => data?.["error"]),
    [full, bug],
  );
  assert.ok(count("caller", "a") && count("operator", "b") && count("internal", "c"));
});

test("a guarded callback never throws, and neither does its promise", async () => {
  const { failures, errors, count } = failuresOf();
  const bug = new TypeError("bug");
  failures.guard("timer", () => {
    throw bug;
  })();
  failures.guard("listener", async () => {
    throw bug;
  })();
  await setImmediate();
  assert.deepEqual(
    errors.map((data) => data?.["error"]),
    [bug, bug],
  );
  assert.ok(count("internal", "timer") && count("internal", "listener"));
});
