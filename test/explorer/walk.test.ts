import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { IS_NIGHTLY } from "../support/nightly.ts";
import { DESKTOP, seriousFindings, sidewaysPixels, WINDOWS, watchedPage } from "../support/page-audit.ts";
import { chromiumPath, launchChromium } from "./browser.ts";
import { type SampleChain, startSampleChain } from "./sample-chain.ts";

const path = chromiumPath();
const skip = path === undefined && "chromium is not on PATH";

/** So many that the newest block and the first are further apart than the state remembers hashes. */
const EMPTY_BLOCKS = 8_300;

let browser: Browser;
let chain: SampleChain;
before(async () => {
  if (path === undefined) return;
  chain = await startSampleChain(EMPTY_BLOCKS);
  browser = await launchChromium(path);
});
after(async () => {
  await browser?.close();
  await chain?.node.stop();
});

const openPage = (options: Parameters<typeof watchedPage>[2]) => watchedPage(browser, chain.node.url, options);

async function settle(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  await page.locator('[data-kind="checking"]').first().waitFor({ state: "detached" });
  await page.getByText("Loading …").first().waitFor({ state: "detached" });
}

/** Routes with a text that each shows when it is there. */
const routes = (): readonly (readonly [string, string])[] => [
  ["/", "Transactions a second"],
  ["/block/2", "State root"],
  [`/block/${EMPTY_BLOCKS}`, "Receipts root"],
  [`/tx/${chain.deployment}`, "bytes of init code"],
  [`/tx/${chain.transfer}`, "Token transfers"],
  [`/tx/${chain.reverted}`, "execution reverted"],
  [`/address/${DEV_ADDRESSES[0]}`, "Transactions"],
  [`/address/${DEV_ADDRESSES[0]}/tokens`, "TKN"],
  [`/address/${chain.token}`, "Created by"],
  [`/address/${chain.token}/contract`, "Upload artifacts"],
  [`/address/${chain.token}/events`, "Transfer"],
  [`/address/${chain.token}/storage`, "Slot"],
  ["/address/0x12", "is not an address"],
  [`/token/${chain.token}`, "Total supply"],
  [`/token/${chain.token}/holders`, "Of the supply"],
  ["/tokens", "TKN"],
  ["/blocks", "Oldest"],
  ["/blocks/24", "Newer"],
  ["/txs/4", "These are the first ones of the chain."],
  ["/pool", "Pending"],
  ["/search/tok", "ERC-20 token"],
  ["/search/nothing", "Nothing has this name here."],
  ["/dev", "Show key"],
  [`/tx/0x${"77".repeat(32)}`, "There is no transaction"],
  ["/validators", "Votes of this node"],
  ["/peers", "Connections"],
  ["/trust", "What a mark means"],
  ["/nowhere", "There is no such page."],
];

test("every page: every mark green, no error; in every window no serious finding of axe, no sideways scrolling", {
  skip,
}, async () => {
  const { page, faults, close } = await openPage({});
  try {
    await page.goto(`${chain.node.url}/explorer/`);
    for (const [index, [route, text]] of routes().entries()) {
      await page.evaluate((hash) => {
        (globalThis as unknown as { location: { hash: string } }).location.hash = hash;
      }, route);
      await page.getByText(text).first().waitFor();
      await settle(page);
      const doubtful = page.locator('[data-kind="false"], [data-kind="unverified"]');
      assert.deepEqual(await doubtful.allInnerTexts(), [], route);
      for (const [window, { name, viewport, colorScheme }] of WINDOWS.entries()) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        // With a change axe looks at every second page, in one of the windows.
        const isAudited = IS_NIGHTLY || index % (2 * WINDOWS.length) === window;
        if (isAudited) assert.deepEqual(await seriousFindings(page), [], `${route}, ${name}`);
        assert.equal(await sidewaysPixels(page), 0, `${route} is wider than the window: ${name}`);
      }
    }
    assert.deepEqual(faults, []);
  } finally {
    await close();
  }
});

test("search finds a block, a transaction, an address; and says when there is nothing", {
  skip,
}, async () => {
  const { page, faults, close } = await openPage({ viewport: DESKTOP });
  await page.goto(`${chain.node.url}/explorer/`);
  const box = page.getByRole("searchbox");
  for (const [text, route] of [
    ["3", "/block/3"],
    [chain.payment, `/tx/${chain.payment}`],
    [DEV_ADDRESSES[1]!, `/address/${DEV_ADDRESSES[1]!.toLowerCase()}`],
  ] as const) {
    await box.fill(text);
    await box.press("Enter");
    await page.waitForURL(`**/explorer/#${route}`);
  }
  await box.fill(`0x${"77".repeat(32)}`);
  await box.press("Enter");
  await page.getByText("The node has nothing of this name or hash.").waitFor();
  await box.fill("TKN");
  await box.press("Enter");
  await page.waitForURL("**/explorer/#/search/TKN");
  await page.getByText("ERC-20 token, Token").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("an uploaded artifact is compared with the deployed code, decodes calls, and its functions can be read", {
  skip,
}, async () => {
  const { abi, bytecode, runtime } = contract("Token");
  const artifact = { contractName: "Token", abi, bytecode, deployedBytecode: runtime };
  const { page, faults, close } = await openPage({ viewport: DESKTOP });
  await page.goto(`${chain.node.url}/explorer/#/address/${chain.token}/contract`);
  await page.locator('input[type="file"]').setInputFiles({
    name: "Token.json",
    mimeType: "application/json",
    buffer: Buffer.from(JSON.stringify(artifact)),
  });
  await page.locator('[data-match="exact"]').waitFor();
  const balanceOf = page.locator("form.function", { hasText: "balanceOf" });
  await balanceOf.locator("input").fill(DEV_ADDRESSES[1]!);
  await balanceOf.getByRole("button").click();
  await balanceOf.locator("output", { hasText: "1234" }).waitFor();
  // Its own error is decoded from now on.
  await page.goto(`${chain.node.url}/explorer/#/tx/${chain.reverted}`);
  await page.getByText("InsufficientBalance(").first().waitFor();
  assert.deepEqual(faults, []);
  await close();
});
