import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT, sources } from "../../scripts/reference/page.ts";
import { stalePages } from "../../scripts/reference/reference.ts";
import { OPTIONS } from "../../src/node/config/schema.ts";
import { REPLACED_KEYS } from "../../src/node/config/unknown-keys.ts";
import { WITH_METRICS } from "../support/metrics.ts";
import { startTestNode } from "../support/test-node.ts";

const DOCS = join(ROOT, "docs");
const pages = readdirSync(DOCS, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".md"))
  .map((path) => [path, readFileSync(join(DOCS, path), "utf8")] as const);
const metricsPage = pages.find(([path]) => path === "reference/metrics.md")![1];

test("the pages of the reference are what the sources say", () => {
  assert.deepEqual(stalePages(), []);
});

test("every metric of a node is on the page with its help", async () => {
  const node = await startTestNode({
    dev: true,
    settings: { ...WITH_METRICS, "json-rpc.processes": "1", "les.serve": "50" },
  });
  try {
    const { url } = node.node.listeners.find(({ kind }) => kind === "metrics")!;
    const exposition = await (await fetch(url)).text();
    const declared = [...exposition.matchAll(/^# HELP (\w+) (.+)\n# TYPE \w+ (\w+)$/gm)];
    assert.ok(declared.length > 40);
    for (const [, name, help, type] of declared) {
      const row = metricsPage.split("\n").find((line) => line.startsWith(`| \`${name}\` |`));
      assert.ok(row?.includes(`| ${type} |`) && row.endsWith(`| ${help} |`), `${name}: ${help}`);
    }
  } finally {
    await node.stop();
  }
});

test("every declaration of a metric is on the page", () => {
  for (const [path, text] of sources()) {
    for (const [, name] of text.matchAll(/\bname: "(\w+)",\s*help:/g)) {
      assert.ok(metricsPage.includes(`\`evmint_${name}\``), `${path}: ${name}`);
    }
  }
});

test("every setting and metric that a page names exists", () => {
  const keys = new Set([...OPTIONS.map(({ key }) => key), ...Object.keys(REPLACED_KEYS)]);
  const groups = new Set(OPTIONS.map(({ key }) => key.split(".")[0]!));
  for (const [path, text] of pages) {
    if (path.startsWith("adr/")) continue;
    for (const [, name = "", group = ""] of text.matchAll(/`(?:--)?(([a-z-]+)\.[a-z0-9-]+)\b/g)) {
      if (!groups.has(group) || /\.(?:md|json|ts|toml|service|yaml)$/.test(name)) continue;
      assert.ok(keys.has(name), `${path}: ${name}`);
    }
    // A capital letter belongs to the name of a method, as does an anchor.
    for (const [name] of text.matchAll(/(?<!#)\bevmint_[a-z0-9_]+(?![a-zA-Z0-9_])/g)) {
      const declared = name.replace(/_(?:bucket|count|sum)$/, "");
      assert.ok(metricsPage.includes(`\`${declared}\``), `${path}: ${name}`);
    }
  }
});
