import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE, BOB, CODE, CONTRACT, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { getCode } from "./state.ts";

const modules = createTestModules();

test("eth_getCode is the code, and 0x where there is none", async () => {
  assert.equal(await getCode.call(modules, [CONTRACT]), bytesToHex(CODE));
  assert.equal(await getCode.call(modules, [ALICE, "latest"]), "0x");
  assert.equal(await getCode.call(modules, [BOB, "0x0"]), "0x");
});
