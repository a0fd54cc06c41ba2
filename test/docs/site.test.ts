import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/reference/page.ts";
import { sitePages } from "../../scripts/site/build.mjs";
import { COUNTER_CODE, SELECTORS } from "../../scripts/site/counter.mjs";
import { PAGE_HEADERS } from "../../src/pages/answer-page.ts";

const solc = createRequire(import.meta.url)("solc") as { compile(input: string): string };

const pages = await sitePages(ROOT);
const byPath = new Map(pages.map(({ path, content }) => [path, content.toString()]));
const documents = pages.filter(({ path }) => path.endsWith("/"));

const attributes = (html: string, name: string) =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(([, value]) => value!);

test("every link of the site leads to a page, and its anchor to a place on it", () => {
  let count = 0;
  for (const { path, content } of documents) {
    for (const href of [...attributes(String(content), "href"), ...attributes(String(content), "src")]) {
      if (/^(?:https:|data:)/.test(href)) continue;
      const { pathname, hash } = new URL(href, `http://node${path}`);
      const target = byPath.get(pathname);
      assert.ok(target !== undefined, `${path}: ${href}`);
      if (hash === "" || hash === "#content") continue;
      assert.ok(attributes(target, "id").includes(hash.slice(1)), `${path}: ${href}`);
      count++;
    }
  }
  assert.ok(count > 500);
});

test("a page has one title, one h1, and no id twice", () => {
  const titles = documents.map(({ content }) => /<title>(.*)<\/title>/.exec(String(content))![1]);
  assert.equal(new Set(titles).size, titles.length);
  for (const { path, content } of documents) {
    assert.equal(String(content).match(/<h1 /g)?.length, 1, path);
    const ids = attributes(String(content), "id");
    assert.equal(new Set(ids).size, ids.length, path);
  }
});

test("pages have nothing that their content security policy forbids", () => {
  const policy = PAGE_HEADERS["content-security-policy"]!;
  assert.match(policy, /script-src 'self'(?:;|$)/);
  for (const { path, content } of documents) {
    assert.doesNotMatch(String(content), /<script(?! type="module" src=)|<style|\sstyle="|\son\w+="/, path);
  }
});

test("the contract of the playground is that of the tutorial", () => {
  const tutorial = readFileSync(join(ROOT, "docs/tutorial.md"), "utf8");
  const content = /^```solidity file=Counter\.sol\n(.*?)^```$/ms.exec(tutorial)![1]!;
  const input = {
    language: "Solidity",
    sources: { "Counter.sol": { content } },
    settings: {
      optimizer: { enabled: true },
      evmVersion: "osaka",
      metadata: { appendCBOR: false },
      outputSelection: { "*": { "*": ["evm.bytecode.object", "evm.methodIdentifiers"] } },
    },
  };
  const { evm } = JSON.parse(solc.compile(JSON.stringify(input))).contracts["Counter.sol"].Counter;
  assert.equal(COUNTER_CODE, `0x${evm.bytecode.object}`);
  assert.deepEqual(SELECTORS, {
    increase: `0x${evm.methodIdentifiers["increase(uint256)"]}`,
    number: `0x${evm.methodIdentifiers["number()"]}`,
  });
});

test("the search index has every page and section, and its links resolve", () => {
  const [path, text] = [...byPath].find(([name]) => name.endsWith(".json"))!;
  type Section = readonly [anchor: string, title: string, text: string];
  const index = JSON.parse(text) as readonly (readonly [string, string, readonly Section[]])[];
  assert.equal(index.length, documents.length);
  for (const [page, , sections] of index) {
    const ids = attributes(byPath.get(page)!, "id");
    for (const [anchor] of sections) {
      if (anchor !== "") assert.ok(ids.includes(anchor), `${path}: ${page}#${anchor}`);
    }
  }
  const anchors = new Set(index.flatMap(([page, , sections]) => sections.map(([id]) => page + id)));
  for (const name of ["/docs/rpc/eth_getlogs", "/docs/reference/settings/json-rpc.api"]) {
    assert.ok(anchors.has(name), name);
  }
});

test("the first page is small", () => {
  assert.ok(byPath.get("/docs/")!.length < 20_000);
});
