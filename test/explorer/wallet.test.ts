import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { DESKTOP, type Load, loadingAfresh, type WatchedPage, watchedPage } from "../support/page-audit.ts";
import { chromiumPath, launchChromium } from "./browser.ts";
import { type SampleChain, startSampleChain } from "./sample-chain.ts";

const path = chromiumPath();
const skip = path === undefined && "chromium is not on PATH";

/** What the user and the wallet do next. */
type WalletState = { chainId: string; isRejecting: boolean; canSwitch: boolean };

const FRIEND = DEV_ADDRESSES[2]!;

let browser: Browser;
let chain: SampleChain;
let chainId: string;
let wallet: WalletState;
let opened: WatchedPage;
let load: Load;
before(async () => {
  if (path === undefined) return;
  chain = await startSampleChain(0);
  chainId = await chain.call("eth_chainId");
  browser = await launchChromium(path);
  opened = await watchedPage(browser, chain.node.url, { viewport: DESKTOP });
  const { page } = opened;
  load = await loadingAfresh(page);
  await page.exposeFunction("askWallet", answer);
  await page.addInitScript(`
    globalThis.ethereum = {
      async request(call) {
        const outcome = await askWallet(call);
        if ("result" in outcome) return outcome.result;
        throw outcome;
      },
    };
  `);
});
after(async () => {
  await browser?.close();
  await chain?.node.stop();
});

type Call = { readonly method: string; readonly params?: readonly unknown[] };
type Outcome = { readonly result: unknown } | { readonly code: number; readonly message: string };

/** A wallet of the first dev account, as EIP-1193 and EIP-3326 have it. */
async function answer({ method, params = [] }: Call): Promise<Outcome> {
  switch (method) {
    case "eth_requestAccounts":
      return { result: [DEV_ADDRESSES[0]] };
    case "eth_chainId":
      return { result: wallet.chainId };
    case "wallet_switchEthereumChain":
      if (!wallet.canSwitch) return { code: 4902, message: "Unrecognized chain ID" };
      wallet.chainId = (params[0] as { chainId: string }).chainId;
      return { result: null };
    default:
      return wallet.isRejecting
        ? { code: 4001, message: "User rejected the request." }
        : { result: await chain.call(method, ...params) };
  }
}

/** Loads the page of the token with its ABI, in a browser with a wallet. */
beforeEach(async () => {
  if (path === undefined) return;
  wallet = { chainId, isRejecting: false, canSwitch: false };
  await load(`${chain.node.url}/explorer/#/address/${chain.token}/contract`);
  const { page } = opened;
  const { abi, runtime } = contract("Token");
  await page.locator('input[type="file"]').setInputFiles({
    name: "Token.json",
    mimeType: "application/json",
    buffer: Buffer.from(JSON.stringify({ contractName: "Token", abi, deployedBytecode: runtime, bytecode: "0x" })),
  });
  await page.locator('[data-match="exact"]').waitFor();
});

afterEach(() => assert.deepEqual(opened?.faults.splice(0) ?? [], []));

const formOf = (page: Page, name: string): Locator =>
  page.locator("form.function").filter({ has: page.locator("b", { hasText: new RegExp(`^${name}$`) }) });

/** Fills the form of `transfer` and presses its button. */
async function send(amount: string): Promise<Locator> {
  const form = formOf(opened.page, "transfer");
  const [to, value] = await form.locator("input").all();
  await to!.fill(FRIEND);
  await value!.fill(amount);
  await form.getByRole("button", { name: "Send" }).click();
  return form;
}

async function balanceOf(account: string): Promise<string> {
  const form = formOf(opened.page, "balanceOf");
  await form.locator("input").fill(account);
  await form.getByRole("button", { name: "Read" }).click();
  return (await form.locator("output").textContent())!;
}

test("a wallet writes a contract: the hash, the wait, the outcome with a link; and the value read afterwards", {
  skip,
}, async () => {
  await chain.call("evm_setAutomine", false);
  const form = await send("55");
  await form.getByText("waiting for a block").waitFor();
  await chain.call("evm_setAutomine", true);
  await chain.call("evm_mine");
  await form.getByText("success").waitFor();
  assert.equal(await balanceOf(FRIEND), "55");
  await form.locator("output a").click();
  await opened.page.getByText("Token transfers").waitFor();
});

test("a transaction that the user rejects says so and sends nothing", { skip }, async () => {
  const number = await chain.call("eth_blockNumber");
  wallet.isRejecting = true;
  const form = await send("1");
  await form.getByText("User rejected the request.").waitFor();
  assert.equal(await form.locator("output").count(), 0);
  assert.equal(await chain.call("eth_blockNumber"), number);
});

test("a transaction that would revert shows what the wallet answers", { skip }, async () => {
  const form = await send(String(10n ** 60n));
  await form.locator('[role="status"]', { hasText: /revert/ }).waitFor();
});

test("a wallet on another chain is asked to switch, and sends nothing where it does not", {
  skip,
}, async () => {
  const number = await chain.call("eth_blockNumber");
  wallet.chainId = "0x1";
  const form = await send("1");
  await form.getByText(`The wallet is on chain 1, this is chain ${Number(chainId)}.`).waitFor();
  assert.equal(await chain.call("eth_blockNumber"), number);
  wallet.canSwitch = true;
  await (await send("1")).getByText("success").waitFor();
  assert.equal(wallet.chainId, chainId);
});
