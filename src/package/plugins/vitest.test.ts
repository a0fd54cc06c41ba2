import assert from "node:assert/strict";
import { test } from "node:test";
import type { EvmintNode } from "../../index.ts";
import { OPTIONS_VARIABLE, setChainOfFile } from "./file-chain.ts";
import evmint, { chain } from "./vitest.ts";

test("chain is the one of the file that runs, and an error where there is none", () => {
  assert.throws(() => chain.urls, /plugins of the vitest configuration/);
  setChainOfFile({ urls: ["http://127.0.0.1:1"] } as unknown as EvmintNode);
  assert.deepEqual(chain.urls, ["http://127.0.0.1:1"]);
  assert.ok("urls" in chain);
  setChainOfFile(undefined);
  assert.throws(() => chain.urls);
});

test("the plugin gives its options to the workers, as text", () => {
  const { test: added } = evmint({ restores: true, settings: { accounts: "3" } }).config({});
  assert.deepEqual(JSON.parse(added.env[OPTIONS_VARIABLE]!), { restores: true, settings: { accounts: "3" } });
  assert.match(added.setupFiles[0]!, /plugins\/vitest-setup\.js$/);
});
