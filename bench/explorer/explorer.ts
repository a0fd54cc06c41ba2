import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { PAGES_FOLDER, readPageTable } from "../../src/web/pages/answer-page.ts";
import { chromiumPath, launchChromium } from "../../test/explorer/browser.ts";
import { median } from "../support/load.ts";
import { call, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";
import { type DeepProof, deepProof } from "./deep-proof.ts";

const LEVELS = 10;
/** Of the median: beyond it a page that was opened feels as if it waited. */
const FIRST_BLOCK_MS_MAX = 300;
const BLOCKS = 100;

/**
 * `npm run bench -- explorer [ROUNDS]`: the explorer in Chromium over loopback: milliseconds from the start of a first visit until the
 * newest block is shown, bytes of all pages, and milliseconds to verify an account by a proof of ten levels.
 */
export async function run([roundsText = "10"]: readonly string[]): Promise<void> {
  const path = chromiumPath();
  if (path === undefined) {
    console.log("explorer: left out, chromium is not on PATH");
    return;
  }
  const rounds = Number(roundsText);
  const node = await startEvmint();
  const browser = await launchChromium(path);
  try {
    await call(node.port, "anvil_mine", [`0x${BLOCKS.toString(16)}`]);
    const url = `http://127.0.0.1:${node.port}/explorer/`;
    const visits: number[] = [];
    for (let round = 0; round < rounds; round++) visits.push(await firstBlockMs(browser, url));
    const { warmUp, first, later } = await verificationMs(browser, deepProof(LEVELS), rounds);
    const rows = [
      { what: "first block shown, ms", median: median(visits), worst: Math.max(...visits) },
      {
        what: "warm-up during the request, ms",
        median: median(warmUp),
        worst: Math.max(...warmUp),
      },
      {
        what: `first proof of ${LEVELS} levels, ms`,
        median: median(first),
        worst: Math.max(...first),
      },
      {
        what: `later proofs of ${LEVELS} levels, ms`,
        median: median(later),
        worst: Math.max(...later),
      },
      ...Object.entries(pageBytes()).map(([encoding, bytes]) => ({
        what: `all pages, ${encoding}, bytes`,
        median: bytes,
        worst: bytes,
      })),
    ];
    printTable(rows);
    writeResult("explorer", rows, { rounds });
    if (median(visits) > FIRST_BLOCK_MS_MAX) {
      console.log(`explorer: the first block is later than ${FIRST_BLOCK_MS_MAX} ms`);
      process.exitCode = 1;
    }
  } finally {
    await browser.close();
    await node.stop();
  }
}

/** In a browser without cache: from the start of the navigation until the number of a block is in the page. */
async function firstBlockMs(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.addInitScript(`
      new MutationObserver((_, observer) => {
        if (document.querySelector(".tile .value") === null) return;
        globalThis.firstBlockMs = performance.now();
        observer.disconnect();
      }).observe(document, { childList: true, subtree: true });
    `);
    await page.goto(url);
    await page.locator(".tile .value").first().waitFor();
    return (await page.evaluate("globalThis.firstBlockMs")) as number;
  } finally {
    await context.close();
  }
}

/** Verifies `proof` by the explorer's own module: in a fresh page, after the warm-up that runs while a page waits for its answers, and again. */
async function verificationMs(browser: Browser, proof: DeepProof, rounds: number) {
  const { build } = await import("esbuild");
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const module = new URL("../../scripts/explorer.mjs", import.meta.url).href;
  const { browserBuild } = (await import(module)) as {
    browserBuild(root: string): Parameters<typeof build>[0];
  };
  const { outputFiles } = await build({
    ...browserBuild(root),
    format: "iife",
    write: false,
    stdin: {
      contents: `
        import { provenAccount } from "./src/explorer/verify/account.ts";
        import { warmUp } from "./src/explorer/verify/account.ts";
        globalThis.warmUp = () => {
          const started = performance.now();
          warmUp();
          return performance.now() - started;
        };
        globalThis.verify = ({ stateRoot, address, answer }) => {
          const started = performance.now();
          const { nonce } = provenAccount(stateRoot, address, answer);
          if (nonce !== 7n) throw new Error("another account");
          return performance.now() - started;
        };`,
      resolveDir: root,
      loader: "ts",
    },
  });
  const [warmUp, first, later]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    const page = await browser.newPage();
    await page.addScriptTag({ content: outputFiles![0]!.text });
    const verify = () => page.evaluate(`verify(${JSON.stringify(proof)})`) as Promise<number>;
    warmUp.push((await page.evaluate("warmUp()")) as number);
    first.push(await verify());
    later.push(await verify());
    await page.close();
  }
  return { warmUp, first, later };
}

/** Bytes of the explorer, as browsers may get it. */
function pageBytes(): Readonly<Record<string, number>> {
  const sizes = { identity: 0, gzip: 0 };
  for (const { file, isGzipped } of readPageTable(["explorer"])!.values()) {
    const stored = readFileSync(new URL(file, PAGES_FOLDER));
    sizes.identity += isGzipped ? gunzipSync(stored).length : stored.length;
    sizes.gzip += stored.length;
  }
  return sizes;
}
