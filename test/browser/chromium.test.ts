import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { createNode } from "../../src/index.ts";
import { createDevControl } from "../../src/node/roles/dev/dev-control.ts";
import { createRpcClient } from "../../src/node/roles/rpc-client.ts";
import { chromiumPath, launchChromium } from "../explorer/browser.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { IS_NIGHTLY } from "../support/nightly.ts";
import { buildForTests } from "./build.ts";
import { importIntoNode } from "./chain-files.ts";
import {
  exportChain,
  exportHome,
  importChain,
  providerOf,
  sendForEver,
  servePages,
  startNode,
  transfer,
} from "./page.ts";
import { askEveryMethod, asking } from "./transcript.ts";
import { useContract } from "./use-contract.ts";

const path = chromiumPath();
const skip = path === undefined && "chromium is not on PATH";
/** Each is a block of the stored chain. */
const TRANSFERS = IS_NIGHTLY ? 1_000 : 200;
const BOB = DEV_ADDRESSES[1];
/** Of chains that have the same block 0. */
const DATED = { settings: { timestamp: "2026-01-31" } };
const LIGHT = { settings: { ...DATED.settings, "keystore.strength": "light" } };

let browser: Browser;
let built: Awaited<ReturnType<typeof buildForTests>>;
let served: Awaited<ReturnType<typeof servePages>>;
before(async () => {
  if (path === undefined) return;
  built = await buildForTests();
  served = await servePages(built.folder);
  browser = await launchChromium(path);
});
after(async () => {
  await browser?.close();
  await served?.close();
  built?.remove();
});

/** A page of an origin with storage of its own. */
async function openPage(context?: BrowserContext): Promise<Page> {
  const page = await (context ?? (await browser.newContext())).newPage();
  await page.goto(served.url);
  return page;
}

function nodeOf(page: Page) {
  const provider = providerOf(page);
  const rpc = createRpcClient(provider);
  return { ...createDevControl(rpc), rpc, provider };
}

async function killPage(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Page.crash");
}

function writeHome(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  for (const [name, content] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    // Secrets are among them.
    writeFileSync(join(folder, name), content, { mode: 0o600 });
  }
}

/** What a home needs: the index is made from the log. */
function readHome(folder: string): ReadonlyMap<string, Uint8Array> {
  const names = ["config/dev-genesis.json", ...logFiles(folder)];
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}

function logFiles(folder: string): string[] {
  return readdirSync(join(folder, "data/log")).map((name) => `data/log/${name}`);
}

test("a page runs contracts, filters and snapshots, in its own thread and in a worker", {
  skip,
}, async () => {
  for (const worker of [false, true]) {
    const page = await openPage();
    await startNode(page, { worker });
    await useContract(nodeOf(page));
    await page.close();
  }
});

test("every method answers in a page as in Node, on the same chain", { skip }, async () => {
  const page = await openPage();
  await startNode(page, DATED);
  await useContract(nodeOf(page));
  const file = await exportChain(page);
  await startNode(page, LIGHT);
  await importChain(page, file);
  await using node = await createNode(LIGHT);
  await importIntoNode(node, file);
  const expected = await askEveryMethod(asking(node.provider));
  const actual = await askEveryMethod(asking(providerOf(page)));
  for (const [label, answer] of expected) assert.deepEqual(actual.get(label), answer, label);
  await page.close();
});

test("a stored chain is there when its tab was closed and another is opened", {
  skip,
}, async () => {
  const context = await browser.newContext();
  const first = await openPage(context);
  await startNode(first, { home: "kept" });
  await transfer(first, TRANSFERS);
  const head = await nodeOf(first).rpc.eth_getBlockByNumber("latest", true);
  assert.equal(head?.number, `0x${TRANSFERS.toString(16)}`);
  await first.close();
  const second = await openPage(context);
  await startNode(second, { home: "kept" });
  assert.deepEqual(await nodeOf(second).rpc.eth_getBlockByNumber("latest", true), head);
  assert.equal(BigInt(await nodeOf(second).rpc.eth_getBalance(BOB, "latest")) % 10n ** 6n, BigInt(TRANSFERS));
  const other = await openPage(context);
  await assert.rejects(startNode(other, { home: "kept" }), { code: "STORE_LOCKED" });
  await context.close();
});

test("a page killed between blocks loses none that was answered", { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-chromium-"));
  const options = { executablePath: path!, args: ["--no-sandbox"] };
  let context = await chromium.launchPersistentContext(folder, options);
  try {
    const page = await openPage(context);
    await startNode(page, { home: "killed" });
    let acknowledged = 0;
    const killed = new Promise<void>((resolve) => {
      page.on("crash", () => resolve());
      page.on("console", (message) => {
        acknowledged = Number(message.text());
        // A page that is gone gives no answer.
        if (acknowledged === 50) killPage(page).catch(() => {});
      });
    });
    await sendForEver(page);
    await killed;
    await context.close();
    context = await chromium.launchPersistentContext(folder, options);
    const again = await openPage(context);
    await startNode(again, { home: "killed" });
    const stored = Number(await nodeOf(again).rpc.eth_blockNumber());
    assert.ok(stored >= acknowledged, `${stored} blocks of ${acknowledged}`);
    await transfer(again, 1);
    assert.equal(Number(await nodeOf(again).rpc.eth_blockNumber()), stored + 1);
  } finally {
    await context.close();
    rmSync(folder, { recursive: true });
  }
});

test("a home moves between a page and Node with every byte", { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-home-"));
  const page = await openPage();
  await startNode(page, { home: "mine" });
  await transfer(page, 3);
  const head = await nodeOf(page).rpc.eth_getBlockByNumber("latest", true);
  writeHome(folder, await exportHome(page));
  const node = await createNode({ home: folder, dev: true });
  assert.deepEqual(await node.rpc.eth_getBlockByNumber("latest", true), head);
  const hash = node.produceBlock();
  await node.stop();
  const files = readHome(folder);
  const back = await openPage();
  await startNode(back, { home: "back" }, files);
  assert.equal((await nodeOf(back).rpc.eth_getBlockByNumber("latest", false))?.hash, hash);
  const log = "data/log/0000000000000000.log";
  const written = files.get(log)!;
  assert.deepEqual((await exportHome(back)).get(log)!.subarray(0, written.length), written);
  await page.close();
  await back.close();
  rmSync(folder, { recursive: true });
});
