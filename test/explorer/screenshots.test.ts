import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { DESKTOP, PHONE, watchedPage } from "../support/page-audit.ts";
import { decodePng, difference, encodePng, type SmallImage, shrink } from "../support/small-image.ts";
import { chromiumPath, launchChromium } from "./browser.ts";
import { type SampleChain, startSampleChain } from "./sample-chain.ts";

/**
 * Every page compared with a stored picture of it, an eighth of its size. After a change of the design, look at the pages and
 * store new pictures: `EVMINT_STORE_SCREENSHOTS=1 npm test -- test/explorer/screenshots`.
 */
const isStoring = process.env["EVMINT_STORE_SCREENSHOTS"] === "1";

const path = chromiumPath();
const skip = path === undefined && "chromium is not on PATH";

const FOLDER = new URL("./screenshots/", import.meta.url);
const SIDE = 8;
/** Part of the pixels that another font, other hashes and other times may change. */
const TOLERANCE = 0.02;
/** Resolves once nothing is being loaded or checked for three frames: what was loaded may ask for more when it is rendered. */
const LOADED = `new Promise((resolve) => {
  let frames = 0;
  const look = () => {
    const isAtRest = document.documentElement.dataset.loading === "0" && !document.querySelector('[data-kind="checking"]');
    frames = isAtRest ? frames + 1 : 0;
    if (frames === 3) resolve();
    else requestAnimationFrame(look);
  };
  look();
})`;
const SIZES = {
  desktop: { ...DESKTOP, height: 1200 },
  phone: { ...PHONE, height: 1600 },
} as const;
const SCHEMES = ["light", "dark"] as const;

let browser: Browser;
let chain: SampleChain;
let headTime: number;
before(async () => {
  if (path === undefined) return;
  chain = await startSampleChain(80);
  const head = await chain.call("eth_getBlockByNumber", "latest", false);
  headTime = Number(head["timestamp"]);
  browser = await launchChromium(path);
  if (isStoring) mkdirSync(FOLDER, { recursive: true });
});
after(async () => {
  await browser?.close();
  await chain?.node.stop();
});

/** Routes with a text that each shows when it is there. */
const pages = (): Readonly<Record<string, readonly [route: string, text: string]>> => ({
  home: ["/", "Transactions a second"],
  block: ["/block/2", "State root"],
  transaction: [`/tx/${chain.transfer}`, "Token transfers"],
  reverted: [`/tx/${chain.reverted}`, "execution reverted"],
  account: [`/address/${DEV_ADDRESSES[0]}/tokens`, "TKN"],
  contract: [`/address/${chain.token}/storage`, "Storage root"],
  events: [`/address/${chain.token}/events`, "Transfer"],
  blocks: ["/blocks/40", "Newer"],
  transactions: ["/txs", "These are the first ones of the chain."],
  token: [`/token/${chain.token}`, "Total supply"],
  pool: ["/pool", "Pending"],
  dev: ["/dev", "Show key"],
  validators: ["/validators", "Votes of this node"],
  peers: ["/peers", "Connections"],
  trust: ["/trust", "What a mark means"],
});

async function pictureOf(page: Page): Promise<SmallImage> {
  await page.evaluate(LOADED);
  await page.evaluate("document.fonts.ready");
  return shrink(await page.screenshot({ animations: "disabled", caret: "hide" }), SIDE);
}

async function openPage(size: keyof typeof SIZES, colorScheme: (typeof SCHEMES)[number]) {
  const viewport = SIZES[size];
  const opened = await watchedPage(browser, chain.node.url, { viewport, colorScheme });
  await opened.page.clock.setFixedTime((headTime + 5) * 1000);
  return opened;
}

const stored = (name: string) => decodePng(readFileSync(new URL(`${name}.png`, FOLDER)));

async function openRoute(page: Page, [route, text]: readonly [route: string, text: string]): Promise<void> {
  await page.goto(`${chain.node.url}/explorer/#${route}`);
  await page.getByText(text).first().waitFor();
}

async function assertLooksAsStored(page: Page, name: string): Promise<void> {
  const part = difference(await pictureOf(page), stored(name));
  assert.ok(part <= TOLERANCE, `${name}: ${(100 * part).toFixed(1)} % of it differ`);
}

for (const size of ["desktop", "phone"] as const) {
  for (const scheme of SCHEMES) {
    test(`every page looks as its stored picture, ${size}, ${scheme}`, { skip }, async () => {
      const { page, close } = await openPage(size, scheme);
      try {
        for (const [name, shown] of Object.entries(pages())) {
          await openRoute(page, shown);
          const file = `${name}-${size}-${scheme}`;
          if (isStoring) writeFileSync(new URL(`${file}.png`, FOLDER), encodePng(await pictureOf(page)));
          await assertLooksAsStored(page, file);
        }
      } finally {
        await close();
      }
    });
  }
}

/** Faults of a page that a picture has to show, each made by a script in it. */
const FAULTS: Readonly<Record<string, string>> = {
  "a panel is missing": `document.querySelectorAll(".panel")[1].remove()`,
  "the style sheet is missing": `document.querySelector("link[rel=stylesheet]").remove()`,
  "the fields overlap": `document.querySelector(".fields").style.lineHeight = "0.5"`,
};

for (const [fault, script] of Object.entries(FAULTS)) {
  test(`the comparison fails where ${fault}`, { skip }, async () => {
    const { page, close } = await openPage("desktop", "light");
    try {
      await openRoute(page, pages()["transaction"]!);
      await assertLooksAsStored(page, "transaction-desktop-light");
      await page.evaluate(script);
      const part = difference(await pictureOf(page), stored("transaction-desktop-light"));
      assert.ok(part > TOLERANCE, `${(100 * part).toFixed(1)} % of it differ`);
    } finally {
      await close();
    }
  });
}
