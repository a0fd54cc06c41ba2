import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { headerHash } from "../../src/base/types/header-codec.ts";
import { headerOf } from "../../src/web/explorer/verify/header.ts";
import type { Json } from "../../src/web/explorer/verify/verdict.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { type Load, loadingAfresh } from "../support/page-audit.ts";
import { chromiumPath, launchChromium } from "./browser.ts";
import { type Lie, type LyingProxy, startLyingProxy } from "./lying-proxy.ts";
import { type AnsweringServer, startRecordedNode } from "./recorded-chain.ts";
import { type SampleChain, startSampleChain } from "./sample-chain.ts";

const path = chromiumPath();
const skip = path === undefined && "chromium is not on PATH";

let browser: Browser;
let chain: SampleChain;
let proxy: LyingProxy;
let recorded: AnsweringServer;
let signedProxy: LyingProxy;
let page: Page;
let load: Load;
before(async () => {
  if (path === undefined) return;
  chain = await startSampleChain();
  proxy = await startLyingProxy(chain.node.url);
  recorded = await startRecordedNode();
  signedProxy = await startLyingProxy(recorded.url, chain.node.url);
  browser = await launchChromium(path);
  page = await browser.newPage();
  load = await loadingAfresh(page);
});
after(async () => {
  await browser?.close();
  await signedProxy?.close();
  await recorded?.close();
  await proxy?.close();
  await chain?.node.stop();
});

/** Marks of a page by what they are about, when all of them are settled. */
async function marksOf(page: Page): Promise<ReadonlyMap<string, string>> {
  await page.waitForSelector(".mark");
  await page.locator('[data-kind="checking"]').first().waitFor({ state: "detached" });
  const marks = await page
    .locator(".mark")
    .evaluateAll((elements) =>
      elements.map((each) => [each.getAttribute("data-what")!, each.getAttribute("data-kind")!] as const),
    );
  return new Map(marks);
}

/** Marks of a page that is loaded as in a browser that has never seen the chain. */
async function open(route: string, node = proxy): Promise<ReadonlyMap<string, string>> {
  await load(`${node.url}/explorer/#${route}`);
  // The slot is read after the account.
  if (route.endsWith("/storage")) await page.waitForSelector('[data-what="storage"]');
  if (node === signedProxy) await page.waitForSelector('[data-what="signatures"]');
  return marksOf(page);
}

const routes = (): Readonly<Record<string, string>> => ({
  block: "/block/2",
  transaction: `/tx/${chain.transfer}`,
  address: `/address/${DEV_ADDRESSES[0]}`,
  contract: `/address/${chain.token}/storage`,
});

test("every mark of an honest node is green", { skip }, async () => {
  proxy.answerWith(undefined);
  const counts = [];
  for (const [name, route] of Object.entries(routes())) {
    const marks = await open(route);
    assert.deepEqual(new Set(marks.values()), new Set(["verified"]), name);
    counts.push(marks.size);
  }
  assert.deepEqual(counts, [3, 3, 3, 4]);
});

/** The last digit of a hex string, another one. */
const flip = (hex: string) => hex.slice(0, -1) + (hex.endsWith("1") ? "2" : "1");
const flipped = (name: string) => (result: Json) => ({
  ...result,
  [name]: flip(result[name] as string),
});

const LIES: readonly (readonly [what: string, route: string, mark: string, lie: Lie])[] = [
  ["a balance", "address", "balance", { method: "eth_getBalance", change: flip }],
  ["a nonce", "address", "nonce", { method: "eth_getTransactionCount", change: flip }],
  ["a code", "contract", "code", { method: "eth_getCode", change: flip }],
  ["a slot of a proxy", "contract", "implementation", { method: "eth_getStorageAt", change: flip }],
  ["a storage value", "contract", "storage", { method: "eth_getStorageAt", change: flip }],
  [
    "a receipt",
    "transaction",
    "receipt",
    {
      method: "eth_getBlockReceipts",
      change: (receipts) => (receipts as Json[]).map(flipped("gasUsed")),
    },
  ],
  [
    "a log",
    "transaction",
    "logs",
    {
      method: "eth_getBlockReceipts",
      change: (receipts) =>
        (receipts as Json[]).map((receipt) => ({
          ...receipt,
          logs: (receipt["logs"] as Json[]).map(flipped("data")),
        })),
    },
  ],
  ["a transaction", "transaction", "transaction", { method: "eth_getTransactionByHash", change: flipped("value") }],
  [
    "a raw transaction",
    "transaction",
    "transaction",
    { method: "eth_getRawTransactionByBlockHashAndIndex", change: flip },
  ],
  ["a header", "block", "header", { method: "eth_getBlockByNumber", change: flipped("gasUsed") }],
  [
    "the list of a block's transactions",
    "block",
    "transactions",
    {
      method: "eth_getBlockByNumber",
      change: (block) => ({
        ...block,
        transactions: (block["transactions"] as string[]).map(flip),
      }),
    },
  ],
  [
    "a node of a proof",
    "address",
    "balance",
    {
      method: "eth_getProof",
      change: (proof) => ({
        ...proof,
        accountProof: (proof["accountProof"] as string[]).map(flip),
      }),
    },
  ],
];

for (const [what, route, mark, lie] of LIES) {
  test(`a node that lies about ${what} gets a red mark`, { skip }, async () => {
    proxy.answerWith(lie);
    const marks = await open(routes()[route]!);
    assert.equal(marks.get(mark), "false");
  });
}

const SIGNED_BLOCK = "/block/9";

test("the signatures of validators are verified, and shown", { skip }, async () => {
  signedProxy.answerWith(undefined);
  await load(`${signedProxy.url}/explorer/#${SIGNED_BLOCK}`);
  await page.getByText("signed by 3 of 4 validators, 75 % of power").waitFor();
  assert.deepEqual(new Set((await marksOf(page)).values()), new Set(["verified"]));
  // In the same document, which knows the chain.
  await page.goto(new URL("#/trust", page.url()).href);
  await page.getByText("evmint-9000").waitFor();
});

test("a node that lies about a validator's signature gets a red mark", { skip }, async () => {
  signedProxy.answerWith({
    method: "clique_getLightBlock",
    change: ({ commit, ...rest }) => {
      const signatures = commit.signatures as (Json | null)[];
      const changed = signatures.map((each) => each && flipped("signature")(each));
      return { ...rest, commit: { ...commit, signatures: changed } };
    },
  });
  const marks = await open(SIGNED_BLOCK, signedProxy);
  assert.deepEqual([marks.get("header"), marks.get("signatures")], ["verified", "false"]);
});

test("a chain that one process decides says so", { skip }, async () => {
  proxy.answerWith(undefined);
  await load(`${proxy.url}/explorer/#/block/2`);
  await page.getByText("by one process: nobody else signs").waitFor();
  assert.equal((await marksOf(page)).has("signatures"), false);
});

test("a node that lies about its first block is not rid of a pinned one", { skip }, async () => {
  proxy.answerWith(undefined);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${proxy.url}/explorer/#/trust`);
  await page.getByRole("button", { name: "Pin the newest block" }).click();
  await page.getByText("it was pinned here").waitFor();
  const isFirst = (block: Json) => block["number"] === "0x0";
  const other = (block: Json) => {
    const changed = { ...block, extraData: "0x00" };
    return { ...changed, hash: headerHash(headerOf(changed)) };
  };
  for (const change of [flipped("extraData"), other]) {
    const lie = (block: Json) => (isFirst(block) ? change(block) : block);
    proxy.answerWith({ method: "eth_getBlockByNumber", change: lie });
    await page.goto(`${proxy.url}/explorer/#/block/2`);
    await page.reload();
    assert.equal((await marksOf(page)).get("header"), "false");
  }
  await context.close();
});

test("a chain that does not contain the trusted block gets red marks, until another block is pinned", {
  skip,
}, async () => {
  proxy.answerWith(undefined);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${proxy.url}/explorer/#/block/20`);
  assert.equal((await marksOf(page)).get("header"), "verified");
  // The node goes back to block 10 and makes other blocks from there.
  await chain.call("anvil_rollback", "0x22");
  await chain.call("anvil_mine", "0x28", "0x2");
  await page.goto(`${proxy.url}/explorer/#/block/5`);
  await page.reload();
  assert.equal((await marksOf(page)).get("header"), "false");
  await page.goto(`${proxy.url}/explorer/#/trust`);
  await page.getByRole("button", { name: "Pin the newest block" }).click();
  await page.getByText("it was pinned here").waitFor();
  await page.goto(`${proxy.url}/explorer/#/block/5`);
  assert.equal((await marksOf(page)).get("header"), "verified");
  await context.close();
});
