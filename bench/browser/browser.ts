import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { createNode, type EvmintNode } from "../../src/index.ts";
import { buildForTests } from "../../test/browser/build.ts";
import { providerOf, servePages, startNode, transfer } from "../../test/browser/page.ts";
import { chromiumPath, launchChromium } from "../../test/explorer/browser.ts";
import { median } from "../support/load.ts";
import { printTable, writeResult } from "../support/report.ts";

const TRANSFERS = 1_000;

/**
 * `npm run bench -- browser [ROUNDS]`: the node in Chromium: milliseconds from the start of the navigation to the first answer, transactions a second, each
 * sent after the receipt of the one before, against Node in process, and bytes that a page loads at first.
 */
export async function run([roundsText = "5"]: readonly string[]): Promise<void> {
  const path = chromiumPath();
  if (path === undefined) {
    console.log("browser: left out, chromium is not on PATH");
    return;
  }
  const rounds = Number(roundsText);
  const built = await buildForTests();
  const served = await servePages(built.folder);
  const browser = await launchChromium(path);
  try {
    const samples = { first: [], memory: [], opfs: [], node: [] } as Record<string, number[]>;
    for (let round = 0; round < rounds; round++) {
      samples["first"]!.push(await firstAnswerMs(browser, served.url));
      samples["node"]!.push(await transfersInNode());
      samples["memory"]!.push(await transfersInPage(browser, served.url, {}));
      samples["opfs"]!.push(await transfersInPage(browser, served.url, { home: "bench" }));
    }
    const rate = (name: string) => TRANSFERS / (median(samples[name]!) / 1_000);
    const rows = [
      { what: "navigation to first answer, ms", value: median(samples["first"]!) },
      { what: "Node in process, transactions a second", value: rate("node") },
      { what: "page, chain in memory, transactions a second", value: rate("memory") },
      { what: "page, chain in OPFS, transactions a second", value: rate("opfs") },
      { what: "page in memory / Node", value: rate("memory") / rate("node") },
      { what: "bytes that are loaded at first, gzip", value: firstBytes(built) },
    ];
    printTable(rows);
    writeResult("browser", rows, { rounds, transfers: TRANSFERS });
  } finally {
    await browser.close();
    await served.close();
    built.remove();
  }
}

/** In a browser without cache. */
async function firstAnswerMs(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    await startNode(page);
    await providerOf(page).request({ method: "eth_blockNumber", params: [] });
    return (await page.evaluate("performance.now()")) as number;
  } finally {
    await context.close();
  }
}

async function transfersInPage(browser: Browser, url: string, options: { readonly home?: string }): Promise<number> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    await startNode(page, options);
    return await transfer(page, TRANSFERS);
  } finally {
    await context.close();
  }
}

async function transfersInNode(): Promise<number> {
  await using node: EvmintNode = await createNode();
  const { rpc, accounts } = node;
  const from = accounts[0]!.address;
  const to = accounts[1]!.address;
  const start = performance.now();
  for (let i = 0; i < TRANSFERS; i++) {
    const hash = await rpc.eth_sendTransaction({ from, to, value: "0x1" });
    if ((await rpc.eth_getTransactionReceipt(hash)) === null) throw new Error(`no receipt of ${hash}`);
  }
  return performance.now() - start;
}

function firstBytes(built: Awaited<ReturnType<typeof buildForTests>>): number {
  return built
    .firstFiles()
    .map((file) => gzipSync(readFileSync(file)).length)
    .reduce((sum, size) => sum + size, 0);
}
