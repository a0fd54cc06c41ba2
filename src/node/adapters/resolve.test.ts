import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestModules } from "../../../test/support/rpc/test-chain.ts";
import { findBlock, resolveState } from "./resolve.ts";

test("the block tag pending is refused with geth's texts where no block can be built", () => {
  const chain = { ...createTestModules().backend.reader, pending: () => undefined };
  const code = "RPC_PENDING_UNAVAILABLE";
  assert.throws(() => findBlock(chain, "pending"), {
    code,
    message: "pending block is not available",
  });
  assert.throws(() => resolveState(chain, "pending"), {
    code,
    message: "pending state is not available",
  });
});
