import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { IS_NIGHTLY } from "./nightly.ts";

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

/** The windows in which pages are shown. With a change each width and each scheme occurs once, and the nightly run has all four. */
export const WINDOWS = [
  { name: "light, desktop", colorScheme: "light", viewport: DESKTOP },
  { name: "dark, phone", colorScheme: "dark", viewport: PHONE },
  ...(IS_NIGHTLY
    ? ([
        { name: "dark, desktop", colorScheme: "dark", viewport: DESKTOP },
        { name: "light, phone", colorScheme: "light", viewport: PHONE },
      ] as const)
    : []),
] as const;

export type WatchedPage = {
  readonly page: Page;
  /** Errors and warnings of the console, exceptions, and requests to another origin, each with the page's address. */
  readonly faults: string[];
  close(): Promise<void>;
};

/** A page whose every complaint is a fault: of a script, of the content security policy, of a request that leaves `origin`. */
export async function watchedPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions,
): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  const report = (text: string) => faults.push(`${page.url()}: ${text}`);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) report(message.text());
  });
  page.on("pageerror", (error) => report(error.message));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== "data:") report(`request to ${url.origin}`);
  });
  return { page, faults, close: () => context.close() };
}

/** Opens an address in place of the page's last one. */
export type Load = (url: string) => Promise<void>;

/**
 * Makes each address load in `page` as in a browser that has never seen its origin: the document is new and nothing is stored. The
 * same by a new context costs Chromium four times the CPU time, most of it for starting processes.
 */
export async function loadingAfresh(page: Page): Promise<Load> {
  await page.addInitScript("localStorage.clear()");
  let loads = 0;
  return async (address) => {
    const url = new URL(address);
    // Without another query, an address that differs only in its route stays in the document.
    url.search = String(loads++);
    await page.goto(url.href);
  };
}

type Violation = {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
};

/** What axe takes for serious or critical on the page as it is, as `rule: element`. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) {
    const path = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
    await page.evaluate(readFileSync(path, "utf8"));
  }
  const { violations } = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as {
    readonly violations: readonly Violation[];
  };
  return violations
    .filter(({ impact }) => /serious|critical/.test(impact))
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
}

/** Pixels by which the page is wider than its window. */
export async function sidewaysPixels(page: Page): Promise<number> {
  return page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}
