import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/reference/page.ts";
import { RPC_PAGES } from "../../scripts/reference/rpc-pages.ts";
import { sitePages } from "../../scripts/site/build.mjs";
import { MENU, pathOf } from "../../scripts/site/contents.mjs";
import { COUNTER_CODE, SELECTORS } from "../../scripts/site/counter.mjs";
import { highlight } from "../../scripts/site/highlight.mjs";
import { PAGE_HEADERS } from "../../src/web/pages/answer-page.ts";

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

test("the overview links every page of the menu, which has every page of methods", () => {
  const linked = attributes(byPath.get("/docs/")!.split("<main")[1]!, "href");
  const menu = MENU.flatMap(([, files]) => files);
  for (const file of menu.filter((each) => !/^docs\/(?:index|rpc\/.*)\.md$/.test(each))) {
    assert.ok(linked.includes(pathOf(file)), file);
  }
  const methods = attributes(byPath.get("/docs/rpc/")!, "href");
  for (const { file } of RPC_PAGES) {
    assert.ok(menu.includes(`docs/rpc/${file}.md`), file);
    assert.ok(methods.includes(`/docs/rpc/${file}/`), file);
  }
});

test("code has its colours, and not a letter more or less", () => {
  for (const [code, lang] of [
    ['{ "a": [1, "b<c", true, null] }', "json"],
    ["const x = `a<b>` // <c>", "js"],
    ["# all\nA=1 npm start -- --port 9545", "sh"],
    ["[json-rpc]\nenable = true # yes", "toml"],
    ["plain <text> & more", ""],
  ] as const) {
    const html = highlight(code, lang);
    assert.equal(html.includes("<span class="), lang !== "", code);
    const text = html.replace(/<[^>]*>/g, "");
    assert.equal(
      text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
      code,
    );
  }
});

test("the search index has every page and section, and its links resolve", () => {
  const [path, text] = [...byPath].find(([name]) => name.endsWith(".json"))!;
  type Section = readonly [anchor: string, title: string, text: string];
  const index = JSON.parse(text) as readonly (readonly [string, string, readonly Section[]])[];
  // The page of what is not there is not searched for.
  assert.equal(index.length, documents.length - 1);
  for (const [page, , sections] of index) {
    const ids = attributes(byPath.get(page)!, "id");
    for (const [anchor] of sections) {
      if (anchor !== "") assert.ok(ids.includes(anchor), `${path}: ${page}#${anchor}`);
    }
  }
  const anchors = new Set(index.flatMap(([page, , sections]) => sections.map(([id]) => page + id)));
  for (const name of ["/docs/rpc/eth-logs/eth_getlogs", "/docs/reference/settings/json-rpc.api"]) {
    assert.ok(anchors.has(name), name);
  }
});

test("the first page is small", () => {
  assert.ok(byPath.get("/docs/")!.length < 20_000);
});
