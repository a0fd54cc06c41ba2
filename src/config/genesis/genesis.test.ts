import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGenesis } from "../../params/genesis.ts";
import { renderGenesis } from "./genesis.ts";

test("renderGenesis writes a chain id beyond 2^53 exactly", () => {
  const chainId = 2n ** 63n + 1n;
  const text = renderGenesis({ chainId, timestamp: 0, alloc: new Map() });
  assert.equal(parseGenesis(text).config.chainId, chainId);
});
