import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { createNode } from "../../src/index.ts";
import { type BrowserModule, buildForTests } from "./build.ts";
import { exportFromNode, importIntoNode } from "./chain-files.ts";
import { askEveryMethod, asking } from "./transcript.ts";
import { useContract } from "./use-contract.ts";

/** The modules for browsers, run by Node: what they share with Chromium is everything but the file system and workers. */
let built: Awaited<ReturnType<typeof buildForTests>>;
let browser: BrowserModule;
before(async () => {
  built = await buildForTests();
  browser = await built.load();
});
after(() => built.remove());

/** Trying a passphrase at the standard cost takes seconds without native code. */
/** Of chains that have the same block 0. */
const DATED = { settings: { timestamp: "2026-01-31" } };
const LIGHT = { settings: { ...DATED.settings, "keystore.strength": "light" } };

test("the modules for browsers import no built-in module of Node", () => {
  const imported = Object.values(built.metafile.outputs).flatMap(({ imports }) => imports);
  const external = imported.filter((each) => each.external).map(({ path }) => path);
  assert.deepEqual(external, []);
});

test("what a page loads at first has 700 KB gzip at most", () => {
  const sizes = built.firstFiles().map((path) => gzipSync(readFileSync(path)).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(total < 700 * 1024, `${total} bytes`);
});

test("a chain in memory runs contracts, filters and snapshots", async () => {
  await using node = await browser.createNode();
  await useContract(node);
});

test("every method answers in the modules for browsers as in Node, on a chain that Node exported", async () => {
  await using maker = await browser.createNode(DATED);
  await useContract(maker);
  const file = await maker.exportChain();
  await using node = await createNode(LIGHT);
  await using tab = await browser.createNode(LIGHT);
  await importIntoNode(node, file);
  await tab.importChain(file);
  const expected = await askEveryMethod(asking(node.provider));
  const actual = await askEveryMethod(asking(tab.provider));
  assert.ok(expected.size > 180);
  for (const [label, answer] of expected) assert.deepEqual(actual.get(label), answer, label);
});

test("a block that Node adds to a chain of the tab goes back to the tab", async () => {
  await using tab = await browser.createNode(DATED);
  await tab.produceBlock();
  await using node = await createNode(DATED);
  await importIntoNode(node, await tab.exportChain());
  const hash = node.produceBlock();
  await tab.importChain(await exportFromNode(node));
  const head = await tab.rpc.eth_getBlockByNumber("latest", false);
  assert.equal(head?.hash, hash);
});

test("notifications of subscriptions are events of the provider", async () => {
  await using tab = await browser.createNode();
  const id = await tab.rpc.eth_subscribe("newHeads");
  const message = new Promise<unknown>((resolve) => tab.provider.on("message", resolve));
  const hash = await tab.produceBlock();
  const { type, data } = (await message) as {
    readonly type: string;
    readonly data: { readonly subscription: string; readonly result: { readonly hash: string } };
  };
  assert.deepEqual([type, data.subscription, data.result.hash], ["eth_subscription", id, hash]);
});

test("what a page cannot do is rejected by code", async () => {
  const unsupported = { code: "BROWSER_UNSUPPORTED" };
  const withSetting = (key: string, value: string) => browser.createNode({ settings: { [key]: value } });
  await assert.rejects(withSetting("json-rpc.enable", "true"), unsupported);
  await assert.rejects(withSetting("metrics.enable", "true"), unsupported);
  await assert.rejects(withSetting("consensus.engine", "cometbft"), unsupported);
  await assert.rejects(browser.createNode({ home: "chain", worker: false }), unsupported);
  await using tab = await browser.createNode();
  await assert.rejects(tab.rpc.debug_memStats(), { code: -32004 });
  await tab.stop();
  await assert.rejects(tab.rpc.eth_blockNumber(), { code: 4900 });
});
