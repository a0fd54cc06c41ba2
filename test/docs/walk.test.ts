import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { MENU, pathOf } from "../../scripts/site/contents.mjs";
import { chromiumPath, launchChromium } from "../explorer/browser.ts";
import { IS_NIGHTLY } from "../support/nightly.ts";
import {
  DESKTOP,
  PHONE,
  seriousFindings,
  sidewaysPixels,
  type WatchedPage,
  WINDOWS,
  watchedPage,
} from "../support/page-audit.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const path = chromiumPath();
const skip = path === undefined && "chromium is not on PATH";

/** Of the pages of decisions, which are all alike, one with a table. */
const DECISION = "docs/adr/0069-young-generation.md";
const FILES = [...MENU.flatMap(([, files]) => files), DECISION];
const METHODS = "docs/rpc/eth-chain.md";
/** One template makes all pages: with a change, the first page of each part of the menu is opened, a page of methods, and a decision. */
const OPENED = IS_NIGHTLY ? FILES : [...MENU.map(([, files]) => files[0]!), METHODS, DECISION];

let browser: Browser;
let node: TestNode;
let opened: WatchedPage;
before(async () => {
  if (path === undefined) return;
  node = await startTestNode({ dev: true });
  browser = await launchChromium(path);
  opened = await watchedPage(browser, node.url, { permissions: ["clipboard-read", "clipboard-write"] });
});
after(async () => {
  await browser?.close();
  await node?.stop();
});

afterEach(() => assert.deepEqual(opened?.faults.splice(0) ?? [], []));

/** The page that the tests share, in a window of this size. */
async function pageIn(viewport: typeof DESKTOP): Promise<Page> {
  await opened.page.setViewportSize(viewport);
  return opened.page;
}

for (const [window, { name, viewport, colorScheme }] of WINDOWS.entries()) {
  // With a change a page is opened in one of the windows.
  const files = OPENED.filter((_file, index) => IS_NIGHTLY || index % WINDOWS.length === window);
  test(`every page, ${name}: no error, no serious finding of axe, no sideways scrolling`, { skip }, async () => {
    const page = await pageIn(viewport);
    await page.emulateMedia({ colorScheme });
    for (const file of files) {
      await page.goto(node.url + pathOf(file));
      await page.locator("h1").first().waitFor();
      assert.deepEqual(await seriousFindings(page), [], file);
      assert.equal(await sidewaysPixels(page), 0, `${file} is wider than the window`);
    }
  });
}

test("the search field finds a method by a part of its name, and opens it by the keyboard", {
  skip,
}, async () => {
  const page = await pageIn(DESKTOP);
  await page.goto(`${node.url}/docs/`);
  await page.keyboard.press("/");
  await page.keyboard.type("getlogs");
  await page.locator(".results a").first().waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/docs/rpc/eth-logs/#eth_getlogs");
  await page.getByRole("combobox").fill("zzzzqqqq");
  await page.locator(".results [aria-disabled]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".results").waitFor({ state: "hidden" });
});

test("the menu of a phone opens and leads to another page", { skip }, async () => {
  const page = await pageIn(PHONE);
  await page.goto(`${node.url}/docs/`);
  const link = page.locator("nav").getByRole("link", { name: "Settings" });
  assert.equal(await link.isVisible(), false);
  await page.getByRole("button", { name: "Menu" }).click();
  await link.click();
  await page.waitForURL("**/docs/reference/settings/");
  await page.getByRole("button", { name: "Menu" }).click();
  await page.locator("nav summary", { hasText: "Methods" }).click();
  await page.locator("nav").getByRole("link", { name: "Blocks", exact: true }).click();
  await page.waitForURL("**/docs/rpc/eth-blocks/");
  // The list of what is on the page is folded below the title.
  await page.locator(".on-page summary").click();
  await page.locator(".on-page a", { hasText: "eth_getBlockReceipts" }).click();
  await page.waitForURL("**/docs/rpc/eth-blocks/#eth_getblockreceipts");
});

test("a visitor deploys and calls a contract on a chain in the tab", { skip }, async () => {
  const page = await pageIn(DESKTOP);
  await page.goto(`${node.url}/docs/guides/browser/`);
  const click = (name: string) => page.getByRole("button", { name }).click();
  const printed = (text: RegExp) => page.locator("#playground li", { hasText: text }).waitFor();
  await click("Start a chain");
  await printed(/id 31337/);
  await click("Deploy");
  await printed(/^Block 1: \d+ gas, 0 logs, a contract at 0x/);
  await page.getByLabel("by").fill("41");
  await click("Increase");
  await printed(/^Block 2: \d+ gas, 1 logs\./);
  await page.getByLabel("by").fill("0");
  await click("Increase");
  await printed(/step is zero/);
  await click("Read");
  await printed(/number\(\) is 41\./);
  assert.deepEqual(await seriousFindings(page), []);
});

test("a button that copies covers no code, and copies it all", { skip }, async () => {
  const page = await pageIn(PHONE);
  await page.goto(`${node.url}/docs/rpc/eth-chain/`);
  for (const figure of (await page.locator("figure.code").all()).slice(0, 6)) {
    const [code, button] = await Promise.all([
      figure.locator("pre").boundingBox(),
      figure.locator("button").boundingBox(),
    ]);
    const isBeside = button!.x >= code!.x + code!.width || button!.y + button!.height <= code!.y + 1;
    assert.ok(isBeside, JSON.stringify({ code, button }));
  }
  await page.locator("figure.code button").first().click();
  const copied = (await page.evaluate("navigator.clipboard.readText()")) as string;
  assert.equal(JSON.parse(copied).method, "eth_chainId");
});

test("a page that is not there is one of the site, with its search", { skip }, async () => {
  const page = await pageIn(DESKTOP);
  const answer = await page.goto(`${node.url}/docs/nope/`);
  assert.equal(answer?.status(), 404);
  assert.match((await page.locator("h1").textContent()) ?? "", /^There is no such page/);
  assert.match(opened.faults.splice(0).join(), /^[^ ]*\/docs\/nope\/: .*404/);
  await page.locator("main").getByRole("link", { name: "overview" }).click();
  await page.waitForURL("**/docs/");
});

test("without scripts the pages are there all the same", { skip }, async () => {
  const options = { viewport: DESKTOP, javaScriptEnabled: false };
  const { page, close } = await watchedPage(browser, node.url, options);
  await page.goto(`${node.url}/docs/`);
  await page.locator("main").getByRole("link", { name: "Ten minutes" }).click();
  await page.waitForURL("**/docs/tutorial/");
  await close();
});

test("with explorer.enable = false there is no page", async () => {
  const closed = await startTestNode({ dev: true, settings: { "explorer.enable": "false" } });
  try {
    assert.equal((await fetch(`${closed.url}/docs/`)).status, 404);
    assert.equal((await fetch(`${closed.url}/openrpc.json`)).status, 200);
  } finally {
    await closed.stop();
  }
});
