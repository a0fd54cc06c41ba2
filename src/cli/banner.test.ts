import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeListener, fakeNode } from "../../test/support/cli/fake-context.ts";
import { checksumAddress } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";
import { loadConfig } from "../node/config/load.ts";
import { DEV_ACCOUNTS } from "../node/keystore/dev-accounts.ts";
import { type BannerOptions, renderBanner } from "./banner.ts";

function banner(options: Partial<BannerOptions> = {}, dev = true, flags: Record<string, string> = {}): string {
  return renderBanner({
    version: "v1.2.3",
    config: loadConfig({ home: "/nonexistent", dev, flags, environment: {} }).config,
    chain: fakeNode().chain,
    listeners: fakeNode().listeners,
    now: 1_700_000_000,
    color: false,
    ...options,
  });
}

/** The value of a `  Name      value` line. */
function value(text: string, name: string): string | undefined {
  return new RegExp(`^  ${name} +(.*)$`, "m").exec(text)?.[1];
}

test("the banner of a dev chain shows every account and key, and warns once", () => {
  const text = banner();
  for (const { address, privateKey } of DEV_ACCOUNTS) {
    assert.ok(text.includes(checksumAddress(address)));
    assert.ok(text.includes(privateKey));
  }
  assert.equal(text.split("WARNING").length - 1, 1);
  assert.ok(!text.includes("\x1b"));
  assert.ok(banner({ color: true }).includes("\x1b[1;31mWARNING"));
});

test("the banner of a dev chain without funded accounts has no headings with nothing under them", () => {
  const text = banner({ chain: { ...fakeNode().chain, devAccounts: [] } });
  for (const heading of ["Accounts", "Private keys", "Phrase", "WARNING"]) assert.ok(!text.includes(heading), heading);
});

test("the banner of a configured chain shows no key", () => {
  const text = banner({}, false);
  assert.ok(!text.includes("WARNING"));
  assert.ok(!text.includes(DEV_ACCOUNTS[0]!.privateKey));
});

test("the banner says what chain it is, where, and whether it was resumed", () => {
  const fresh = banner();
  assert.equal(value(fresh, "Chain id"), "31337");
  assert.equal(value(fresh, "Home"), "/nonexistent");
  assert.equal(value(fresh, "State"), "new chain");
  assert.equal(value(fresh, "Engine"), "solo, a block for each transaction");
  const chain = { ...fakeNode().chain, head: 7, resumed: true };
  assert.equal(value(banner({ chain }), "State"), "resumed at block 7, 0 s old");
  assert.equal(value(banner({ chain, now: 1_700_010_000 }), "State"), "resumed at block 7, 2 h old");
  const timed = banner({}, true, { "consensus.block-time": "1500ms" });
  assert.equal(value(timed, "Engine"), "solo, a block every 1500ms");
});

test("the banner lists each listener with its namespaces, and wallet settings from the real port", () => {
  const text = banner({
    listeners: [
      fakeListener({ url: "http://127.0.0.1:40001", namespaces: ["eth", "web3"] }),
      fakeListener({ kind: "ipc", url: "/nonexistent/evmint.ipc", needsToken: false }),
    ],
  });
  assert.equal(value(text, "HTTP"), "http://127.0.0.1:40001");
  assert.equal(value(text, "IPC"), "/nonexistent/evmint.ipc");
  assert.ok(text.includes("eth, web3 (private methods: token)"));
  assert.equal(value(text, "RPC URL"), "http://127.0.0.1:40001");
  assert.equal(value(text, "Network"), "Evmint dev");
  assert.equal(value(text, "Currency"), "ETH");
  assert.equal(value(banner({ listeners: [] }), "RPC URL"), undefined);
});

test("the banner names each dangerous setting in force", () => {
  assert.ok(!banner().includes("DANGER"));
  const text = banner({}, true, { "json-rpc.cors-origins": "*", "json-rpc.vhosts": "*" });
  assert.equal(text.split("DANGER").length - 1, 2);
});

test("the banner names the pages that are served, and each list of namespaces once", () => {
  const listeners = [
    fakeListener({ url: "http://127.0.0.1:40001", namespaces: ["eth", "web3"], needsToken: false }),
    fakeListener({ kind: "ws", url: "ws://127.0.0.1:40002", namespaces: ["eth", "web3"], needsToken: false }),
  ];
  const text = banner({ listeners });
  assert.equal(value(text, "Explorer"), "http://127.0.0.1:40001/explorer/");
  assert.equal(value(text, "Docs"), "http://127.0.0.1:40001/docs/");
  assert.equal(text.split("eth, web3").length - 1, 1);
  assert.equal(value(banner({ listeners }, true, { "explorer.enable": "false" }), "Explorer"), undefined);
  assert.equal(value(banner({ listeners: [] }), "Docs"), undefined);
  assert.equal(value(banner({ listeners }, false), "Explorer"), undefined);
});

test("the banner of a fork names the block and the node that is asked", () => {
  const hash = `0x${"ab".repeat(32)}` as Hash;
  const chain = { ...fakeNode().chain, fork: { number: 17, hash, url: "https://node.example" } };
  const text = banner({ chain });
  assert.equal(value(text, "Node"), "https://node.example");
  assert.equal(value(text, "Block"), "17");
  assert.equal(value(text, "Hash"), hash);
  // Programs that start a node look for it there.
  assert.equal(/https?:\/\/\S+/.exec(text)?.[0], fakeNode().listeners[0]!.url);
  assert.equal(value(banner(), "Node"), undefined);
});
