import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { encodeAbiParameters } from "viem";
import { parseRemoteUrl } from "../../src/base/telemetry/remote-url.ts";
import { BEACON_SLOT, SLOTS } from "../../src/web/explorer/ui/proxy.ts";
import { readPageTable } from "../../src/web/pages/answer-page.ts";
import { startExplorerServer } from "../../src/web/pages/explorer-server.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import {
  DESKTOP,
  type Load,
  loadingAfresh,
  PHONE,
  seriousFindings,
  sidewaysPixels,
  type WatchedPage,
  watchedPage,
} from "../support/page-audit.ts";
import { ONE_PROCESS } from "../support/test-node.ts";
import { chromiumPath, launchChromium } from "./browser.ts";
import { type SampleChain, startSampleChain } from "./sample-chain.ts";

const path = chromiumPath();
const skip = path === undefined && "chromium is not on PATH";

const artifacts = mkdtempSync(join(tmpdir(), "evmint-artifacts-"));
let browser: Browser;
let chain: SampleChain;
let opened: WatchedPage;
let load: Load;
before(async () => {
  if (path === undefined) return;
  const { abi, bytecode, runtime } = contract("Token");
  const artifact = { contractName: "Token", abi, bytecode, deployedBytecode: runtime };
  writeFileSync(join(artifacts, "Token.json"), JSON.stringify(artifact));
  chain = await startSampleChain(0, { ...ONE_PROCESS, artifacts: artifacts });
  await setUpProxies();
  browser = await launchChromium(path);
  opened = await watchedPage(browser, chain.node.url, { viewport: DESKTOP });
  load = await loadingAfresh(opened.page);
});
after(async () => {
  await browser?.close();
  await chain?.node.stop();
  rmSync(artifacts, { recursive: true });
});

const addressOf = (digit: string) => `0x${digit.repeat(40)}`;
const word = (address: string) => `0x${address.slice(2).padStart(64, "0")}`;
const PROXIES = {
  "ERC-1967": addressOf("1"),
  beacon: addressOf("2"),
  minimal: addressOf("3"),
  "EIP-7702": addressOf("4"),
};
const BEACON = addressOf("b");
const HOSTILE = addressOf("e");

/** Delegates every call to the address in the slot of ERC-1967. */
const DELEGATING = `0x365f5f375f5f365f7f${SLOTS[0]![0].slice(2)}545af43d5f5f3e6036573d5ffd5b3d5ff3`;

/** What a contract that answers this text to every call has as name and as symbol: markup, a change of the direction, and no end. */
const HOSTILE_TEXT = `<img src=x onerror="document.title='owned'">\u202e\u0000\u0301${"\u0301".repeat(50)}${"W".repeat(20_000)}`;

/** Copies what is behind it to memory and returns it. */
function answering(data: string): string {
  const length = ((data.length - 2) / 2).toString(16).padStart(4, "0");
  return `0x61${length}80600a5f395ff3${data.slice(2)}`;
}

async function setUpProxies(): Promise<void> {
  const { token } = chain;
  const setCode = (address: string, code: string) => chain.call("anvil_setCode", address, code);
  await setCode(PROXIES["ERC-1967"], DELEGATING);
  await chain.call("anvil_setStorageAt", PROXIES["ERC-1967"], SLOTS[0]![0], word(token));
  await setCode(BEACON, `0x73${token.slice(2)}5f5260205ff3`);
  await setCode(PROXIES.beacon, "0x5f5ffd");
  await chain.call("anvil_setStorageAt", PROXIES.beacon, BEACON_SLOT, word(BEACON));
  await setCode(PROXIES.minimal, `0x363d3d373d3d3d363d73${token.slice(2)}5af43d82803e903d91602b57fd5bf3`);
  await setCode(PROXIES["EIP-7702"], `0xef0100${token.slice(2)}`);
  await setCode(HOSTILE, answering(encodeAbiParameters([{ type: "string" }], [HOSTILE_TEXT])));
  await chain.call("evm_mine");
}

/** Runs `work` on a page at `route`; its faults have to be none. */
async function onPage(route: string, work: (page: Page) => Promise<void>): Promise<void> {
  await load(`${chain.node.url}/explorer/#${route}`);
  await work(opened.page);
  assert.deepEqual(opened.faults.splice(0), []);
}

test("calls of a token show their amount with its decimals, a contract without a name says how it gets one", {
  skip,
}, async () => {
  await onPage(`/tx/${chain.transfer}`, async (page) => {
    await page.getByText("(0.000000000000001234 TKN)").waitFor();
    await page.locator(".calls .line", { hasText: "0.000000000000001234 TKN" }).waitFor();
  });
  await onPage(`/address/${PROXIES.minimal}/contract`, async (page) => {
    await page.locator("pre", { hasText: "forge verify-contract --verifier blockscout" }).waitFor();
    await page.getByText("45 bytes of code").waitFor();
  });
});

test("the faucet's field shows the first account whole, as wallets write it", { skip }, async () => {
  await onPage("/dev", async (page) => {
    const field = page.locator("section, .panel").filter({ hasText: "Faucet" }).last().getByLabel("Address");
    assert.equal(await field.inputValue(), DEV_ADDRESSES[0]);
    const cut = await field.evaluate((input) => input.scrollWidth - input.clientWidth);
    assert.ok(cut <= 0, `${cut} pixels are cut`);
    await page.getByRole("button", { name: "Switch automine off" }).waitFor();
  });
});

test("contracts of --artifacts have their names, and their errors and events are decoded, without an upload", {
  skip,
}, async () => {
  await onPage("/", async (page) => {
    const table = page.getByLabel("Newest transactions");
    await table.locator(".name", { hasText: "Token" }).first().waitFor();
    await table.locator(".method", { hasText: "transfer" }).first().waitFor();
    await table.getByText("✗ failed").waitFor();
  });
  await onPage(`/tx/${chain.reverted}`, (page) => page.getByText("InsufficientBalance(").first().waitFor());
  await onPage(`/address/${chain.token}/contract`, async (page) => {
    await page.locator('[data-origin="artifacts"]').waitFor();
    // What the node says is not marked as if it had been checked here.
    assert.equal(await page.locator('[data-origin="artifacts"] .mark, [data-origin="artifacts"].ok').count(), 0);
  });
});

for (const [kind, proxy] of Object.entries(PROXIES)) {
  test(`the implementation behind a proxy is shown, and called by its ABI: ${kind}`, { skip }, async () => {
    await onPage(`/address/${proxy}/contract`, async (page) => {
      const shown = page.locator(`[data-implementation="${chain.token}"]`);
      await shown.getByText(kind).waitFor();
      const mark = kind === "beacon" ? "unverified" : "verified";
      await shown.locator(`[data-kind="${mark}"]`).waitFor();
      await page.getByText("Functions as proxy of Token").waitFor();
      if (kind !== "ERC-1967") return;
      const form = page.locator("form.function", { hasText: "balanceOf" });
      await form.locator("input").fill(DEV_ADDRESSES[0]!);
      await form.getByRole("button").click();
      await form.locator("output", { hasText: /^0$/ }).waitFor();
    });
  });
}

test("an account of the dev chain writes a contract, without a wallet", { skip }, async () => {
  await onPage(`/address/${chain.token}/contract`, async (page) => {
    const form = page.locator("form.function").filter({ has: page.locator("b", { hasText: /^transfer$/ }) });
    await form.locator("input").first().fill(DEV_ADDRESSES[2]!);
    await form.locator("input").nth(1).fill("77");
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("success").waitFor();
  });
  await onPage(`/token/${chain.token}/holders`, async (page) => {
    await page.getByText("Holders (3)").waitFor();
    await page.getByText("Of blocks 0 to").waitFor();
  });
});

/** Deploys a contract of `test/contracts/Collectibles.sol`, which mints to the first two dev accounts. */
async function deployCollectible(name: "Art" | "Items"): Promise<string> {
  const data = `${contract(name).bytecode}${word(DEV_ADDRESSES[1]!).slice(2)}`;
  const hash = await chain.call("eth_sendTransaction", { from: DEV_ADDRESSES[0], gas: "0x200000", data });
  return (await chain.call<{ contractAddress: string }>("eth_getTransactionReceipt", hash)).contractAddress;
}

test("tokens with ids have their standard, their holders by items, and are among the tokens of an account", {
  skip,
}, async () => {
  const Art = await deployCollectible("Art");
  const Items = await deployCollectible("Items");
  await onPage(`/token/${Art}/holders`, async (page) => {
    for (const text of ["ERC-721", "Paintings", "Holders (2)"]) await page.getByText(text).first().waitFor();
  });
  await onPage(`/token/${Items}`, async (page) => {
    for (const text of ["ERC-1155", "#6 × 20", "#6 × 3"]) await page.getByText(text).first().waitFor();
  });
  await onPage(`/token/${Items}/holders`, async (page) => {
    const row = page.getByLabel("Holders").getByRole("row").nth(1);
    await row.getByRole("cell").first().waitFor();
    // Ten of 5 and seventeen of 6.
    assert.deepEqual((await row.getByRole("cell").allTextContents()).slice(2), ["2", "27"]);
  });
  await onPage(`/address/${DEV_ADDRESSES[0]}/tokens`, async (page) => {
    await page.getByText("#5 × 10, #6 × 17").waitFor();
    await page.getByText("#1", { exact: true }).waitFor();
  });
  await onPage("/search/paint", (page) => page.getByText("ERC-721 token, Paintings").waitFor());
});

test("the page of a dev chain gives ether, mines, takes snapshots and goes back to them", { skip }, async () => {
  const stranger = `0x${"5a".repeat(20)}`;
  const balance = () => chain.call<string>("eth_getBalance", stranger, "latest");
  const number = async () => Number(await chain.call<string>("eth_blockNumber"));
  await onPage("/dev", async (page) => {
    await page.getByRole("button", { name: "Take a snapshot" }).click();
    await page.getByRole("button", { name: "Revert" }).waitFor();
    const first = await number();
    await page.getByLabel("Blocks", { exact: true }).fill("3");
    await page.getByRole("button", { name: "Mine", exact: true }).click();
    await page.getByText("3 mined.").waitFor();
    assert.equal(await number(), first + 3);
    await page.getByLabel("Address", { exact: true }).fill(stranger);
    await page.getByLabel("Ether").fill("1.5");
    await page.getByRole("button", { name: "Give" }).click();
    await page.getByText("1.5 ETH added.").waitFor();
    assert.equal(BigInt(await balance()), 15n * 10n ** 17n);
    await page.getByRole("button", { name: "Revert" }).click();
    await page.getByText("The chain is as it was").waitFor();
    assert.deepEqual([await number(), BigInt(await balance())], [first, 0n]);
    await page.getByRole("button", { name: "Show key" }).first().click();
    await page.getByText("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80").waitFor();
    await page.getByLabel("Ether").fill("much");
    await page.getByRole("button", { name: "Give" }).click();
    await page.getByText("The amount is a number of ether").waitFor();
  });
});

test("beside a node the pages work as well, and change nothing there", { skip }, async () => {
  const server = await startExplorerServer({
    remote: parseRemoteUrl(chain.node.url, ["http"])!,
    host: "127.0.0.1",
    port: 0,
    pages: readPageTable(["explorer"])!,
    onError: assert.ifError,
  });
  const { page, faults, close } = await watchedPage(browser, new URL(server.url).origin, { viewport: DESKTOP });
  try {
    await page.goto(server.url);
    await page.getByLabel("Newest transactions").locator(".name", { hasText: "Token" }).first().waitFor();
    await page.getByRole("link", { name: "Validators" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "Dev", exact: true }).count(), 0);
    for (const [route, text] of [
      ["/peers", "Evmint/"],
      ["/dev", "does not run a dev chain"],
      [`/address/${chain.token}/contract`, "No wallet"],
    ] as const) {
      await page.goto(`${server.url}#${route}`);
      await page.getByText(text).first().waitFor();
    }
    assert.deepEqual(faults, []);
  } finally {
    await close();
    await server.close();
  }
});

test("a name that attacks stays a short text on one line, on every page that shows it", { skip }, async () => {
  for (const route of [`/token/${HOSTILE}`, `/address/${HOSTILE}`, `/address/${HOSTILE}/contract`]) {
    await onPage(route, async (page) => {
      await page.getByText("<img src=x").first().waitFor();
      assert.equal(await page.locator("main img").count(), 0);
      assert.notEqual(await page.title(), "owned");
      const text = (await page.locator("main").textContent())!;
      for (const control of ["\u202e", "\u0000"]) assert.ok(!text.includes(control));
      assert.ok(text.length < 5000, `${text.length} characters`);
      for (const viewport of [PHONE, DESKTOP]) {
        await page.setViewportSize(viewport);
        assert.equal(await sidewaysPixels(page), 0, route);
        assert.deepEqual(await seriousFindings(page), [], route);
      }
    });
  }
});
