import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { DASHBOARD_PATH, dashboard, metricNames, ROWS } from "../../scripts/grafana-dashboard.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { WITH_METRICS } from "../support/metrics.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import { viemClients } from "../support/viem-clients.ts";

let node: TestNode;
let exposition: string;

/** A node after a block, an error and a rejected request: what every node has after some minutes. */
before(async () => {
  node = await startTestNode({ dev: true, settings: WITH_METRICS });
  const { reader, wallet } = viemClients(node);
  const hash = await wallet.sendTransaction({ to: DEV_ADDRESSES[1], value: 1n });
  await reader.waitForTransactionReceipt({ hash });
  await assert.rejects(reader.request({ method: "eth_nope" as "eth_chainId" }));
  await fetch(node.url, { method: "PUT" });
  const { url } = node.node.listeners.find(({ kind }) => kind === "metrics")!;
  exposition = await (await fetch(url)).text();
});
after(() => node.stop());

const QUERIES = Object.values(ROWS).flatMap((panels) =>
  panels.flatMap(({ title, queries }) => Object.entries(queries).map(([legend, query]) => ({ title, legend, query }))),
);

const seriesOf = (name: string) =>
  exposition.split("\n").filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));

test("the dashboard in the repository is the one its script makes", () => {
  assert.deepEqual(JSON.parse(readFileSync(DASHBOARD_PATH, "utf8")), dashboard());
});

test("every metric of the dashboard is one that the node has", () => {
  for (const { title, query } of QUERIES) {
    for (const name of metricNames(query)) {
      const declared = name.replace(/_(bucket|count)$/, "");
      assert.ok(exposition.includes(`# HELP ${declared} `), `${title}: ${name}`);
    }
  }
});

test("every panel has data", () => {
  for (const panel of Object.values(ROWS).flat()) {
    const names = Object.values(panel.queries).flatMap(metricNames);
    assert.ok(
      names.some((name) => seriesOf(name).length > 0),
      panel.title,
    );
  }
});

test("every label in a legend is one that the series has", () => {
  for (const { title, legend, query } of QUERIES) {
    const labels = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
    for (const series of metricNames(query).flatMap(seriesOf)) {
      for (const label of labels) assert.ok(series.includes(`${label}="`), `${title}: ${label}`);
    }
  }
});
