import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { type Abi, encodeDeployData, type Hex } from "viem";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { DESKTOP, watchedPage } from "../support/page-audit.ts";
import { chromiumPath, launchChromium } from "./browser.ts";
import { type SampleChain, startSampleChain } from "./sample-chain.ts";

const path = chromiumPath();
const skip = path === undefined && "chromium is not on PATH";

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

library Doubling {
    function twice(uint256 value) external pure returns (uint256) {
        return value * 2;
    }
}

contract Counter {
    address immutable owner = msg.sender;
    uint256 public count;

    function add(uint256 value) external {
        require(msg.sender == owner);
        count += Doubling.twice(value);
    }
}
`;

/** Settings other than any default, so that they have to be those of the upload. */
const settings = { optimizer: { enabled: true, runs: 7 }, evmVersion: "shanghai" };
const standardJson = (content: string) => ({
  language: "Solidity",
  sources: { "src/Counter.sol": { content } },
  settings: { ...settings, outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } },
});

type Compiled = {
  readonly abi: Abi;
  readonly evm: { readonly bytecode: { readonly object: string } };
};

function compile(): Readonly<Record<"Doubling" | "Counter", Compiled>> {
  const solc = createRequire(import.meta.url)("solc") as { compile(input: string): string };
  const output = JSON.parse(solc.compile(JSON.stringify(standardJson(SOURCE))));
  assert.equal(output.errors, undefined);
  return output.contracts["src/Counter.sol"];
}

let browser: Browser;
let chain: SampleChain;
let counter: Hex;
before(async () => {
  chain = await startSampleChain(0);
  if (path === undefined) return;
  const { Doubling, Counter } = compile();
  const library = await deploy(Doubling);
  counter = await deploy(Counter, library);
  browser = await launchChromium(path);
});
after(async () => {
  await browser?.close();
  await chain.node.stop();
});

async function deploy({ abi, evm }: Compiled, library: string = ""): Promise<Hex> {
  const bytecode: Hex = `0x${evm.bytecode.object.replace(/__\$.{34}\$__/g, library.slice(2))}`;
  const hash = await chain.call("eth_sendTransaction", {
    from: DEV_ADDRESSES[0],
    gas: "0x200000",
    data: encodeDeployData({ abi, bytecode }),
  });
  const receipt = await chain.call<{ contractAddress: Hex }>("eth_getTransactionReceipt", hash);
  return receipt.contractAddress;
}

async function withContractPage(work: (page: Page) => Promise<void>): Promise<readonly string[]> {
  const { page, faults, close } = await watchedPage(browser, chain.node.url, { viewport: DESKTOP });
  try {
    await page.goto(`${chain.node.url}/explorer/#/address/${counter}/contract`);
    await work(page);
    return faults;
  } finally {
    await close();
  }
}

const upload = (page: Page, json: object) =>
  page.locator('input[type="file"]').setInputFiles({
    name: "input.json",
    mimeType: "application/json",
    buffer: Buffer.from(JSON.stringify(json)),
  });

const CASES: Readonly<Record<string, readonly [content: string, match: string]>> = {
  "the source of the contract": [SOURCE, "exact"],
  "a source with another comment": [`${SOURCE}// other\n`, "same instructions"],
  "a source of other code": [SOURCE.replace("* 2", "* 3").replace("+=", "-="), "different"],
};

for (const [what, [content, match]] of Object.entries(CASES)) {
  test(`${what}, with library and immutable, is compiled by the node: ${match}`, {
    skip,
  }, async () => {
    const faults = await withContractPage(async (page) => {
      await upload(page, standardJson(content));
      const shown = page.locator(`[data-recompiled="${match}"]`);
      await shown.getByText("Counter").waitFor();
      assert.match((await shown.textContent())!, /solc 0\.8\.\d+/);
      assert.equal(await page.locator(".source pre").first().textContent(), content);
    });
    assert.deepEqual(faults, []);
  });
}

test("an upload that has the deployed code and another source is shown as such", {
  skip,
}, async () => {
  const code = await chain.call<string>("eth_getCode", counter, "latest");
  const other = SOURCE.replace("* 2", "* 3").replace("+=", "-=");
  const output = {
    contracts: {
      "src/Counter.sol": {
        Counter: { abi: [], evm: { deployedBytecode: { object: code.slice(2) } } },
      },
    },
  };
  await withContractPage(async (page) => {
    await upload(page, { input: standardJson(other), output });
    await page.locator('[data-recompiled="different"]').waitFor();
    await page.locator('[data-match="exact"]').waitFor();
  });
});

test("a source that does not compile shows the compiler's words", { skip }, async () => {
  await withContractPage(async (page) => {
    await upload(page, standardJson("contract A { uint nonsense }"));
    await page.getByText("ParserError").waitFor();
    assert.equal(await page.locator("[data-match], [data-recompiled]").count(), 0);
  });
});

test("the node compiles what is in the input alone", async () => {
  for (const sources of [
    { "A.sol": { content: 'import "/etc/passwd";' } },
    { "A.sol": { urls: ["file:///etc/passwd", "http://127.0.0.1:1/A.sol"] } },
  ]) {
    const input = { language: "Solidity", sources };
    await assert.rejects(chain.call("eth_compileStandardJson", input), /solc:/);
  }
  await assert.rejects(chain.call("eth_compileStandardJson", { language: "Solidity" }), /sources/);
});
