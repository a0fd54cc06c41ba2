import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { EMPTY_CODE_HASH } from "../../../base/types/constants.ts";
import { sha3 } from "./methods.ts";

const modules = createTestModules();

test("web3_sha3 is Keccak-256, not SHA3-256", async () => {
  assert.equal(
    await sha3.call(modules, ["0x68656c6c6f20776f726c64"]),
    "0x47173285a8d7341e5e972fc677286384f802f8ef42a5ec5f03bbfa254cb01fad",
  );
  assert.equal(await sha3.call(modules, ["0x"]), EMPTY_CODE_HASH);
});

test("web3_sha3 wants DATA", async () => {
  for (const input of ["68656c", "0x6", "0xzz", 5, null]) {
    await assert.rejects(sha3.call(modules, [input]), { code: "RPC_INVALID_PARAMS" });
  }
});
