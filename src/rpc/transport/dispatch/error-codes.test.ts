import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { ErrorCode } from "../../../base/error-codes.ts";
import { errorClassOf, InvariantError, NodeError } from "../../../base/errors.ts";
import { ExecutionRevertedError } from "../../../evm/execution/call/call-errors.ts";
import { toErrorObject } from "./error-codes.ts";

const src = fileURLToPath(new URL("../../..", import.meta.url));

class SomeError extends NodeError {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, data?: unknown) {
    super("text", { data });
    this.code = code;
  }
}

test("a plain rejection is -32000 with its own text and nothing else", () => {
  assert.deepEqual(toErrorObject(new SomeError("TX_NONCE_MISMATCH_TOO_LOW", "0x")), {
    code: -32000,
    message: "text",
  });
});

test("a revert is code 3 with its bytes as data", () => {
  assert.deepEqual(toErrorObject(new ExecutionRevertedError(Uint8Array.of(0xab))), {
    code: 3,
    message: "execution reverted",
    data: "0xab",
  });
});

test("a bug is -32603 and tells nothing", () => {
  for (const error of [new InvariantError("secret"), new TypeError("secret"), "secret"]) {
    assert.deepEqual(toErrorObject(error), { code: -32603, message: "method handler crashed" });
    assert.equal(errorClassOf(error), "internal");
  }
  assert.equal(errorClassOf(new SomeError("TX_TOO_SHORT")), "caller");
});

test("damaged data is -32603 of kind corruption, and the operator's", () => {
  const error = new SomeError("STORE_CORRUPT_ROW");
  assert.deepEqual(toErrorObject(error), {
    code: -32603,
    message: "text",
    data: { kind: "corruption" },
  });
  assert.equal(errorClassOf(error), "operator");
});

test("a full disk, a journal that cannot be written and errors of the system are the operator's", () => {
  for (const code of ["STORE_DISK_FULL", "POOL_JOURNAL_WRITE"] as const) {
    const error = new SomeError(code);
    assert.deepEqual(toErrorObject(error).data, { kind: "disk" }, code);
    assert.equal(errorClassOf(error), "operator", code);
  }
  let systemError: unknown;
  try {
    readFileSync(join(src, "no-such-file"));
  } catch (error) {
    systemError = error;
  }
  assert.equal(errorClassOf(systemError), "operator");
  const { code, data } = toErrorObject(systemError);
  assert.deepEqual([code, data], [-32603, { kind: "disk" }]);
});
