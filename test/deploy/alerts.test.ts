import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { metricNames, NETWORK_ROWS } from "../../scripts/grafana-dashboard.ts";
import { ROOT } from "../../scripts/reference/page.ts";

type Rules = {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
};
type RuleTests = {
  readonly tests: readonly {
    readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: readonly object[] }[];
  }[];
};

const read = (...path: string[]) => readFileSync(join(ROOT, ...path), "utf8");

const RULE_TESTS = join("test", "deploy", "alerts.promtool.yaml");
const rules = (parse(read("deploy", "alerts.yaml")) as Rules).groups.flatMap((group) => group.rules);
const metrics = read("docs", "reference", "metrics.md");
const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => read("src", file));

test("alerts and the rows of a network name metrics that a node has", () => {
  const queries = Object.values(NETWORK_ROWS).flatMap((panels) =>
    panels.flatMap((panel) => Object.values(panel.queries)),
  );
  for (const query of [...rules.map(({ expr }) => expr), ...queries]) {
    for (const name of metricNames(query)) assert.ok(metrics.includes(`\`${name}\``), name);
  }
});

test("a counter whose first event fires an alert has its series from the start, or the rule fires for a new series", () => {
  const firsts = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/increase\((evmint_(\w+))\[\w+\]\) > 0(?!\.)/g)].map(([, metric, name]) => ({
      expr,
      metric,
      name,
    })),
  );
  assert.deepEqual(firsts.map(({ name }) => name).sort(), ["failures_total", "misbehavior_total"]);
  for (const { expr, metric, name } of firsts) {
    const file = sources.find((text) => text.includes(`name: "${name}"`)) ?? "";
    const declaration = file.slice(file.indexOf(`name: "${name}"`)).split("});", 1)[0]!;
    const exists = !declaration.includes("labels:") || declaration.includes("values:");
    assert.ok(exists || expr.includes(`unless ${metric} offset`), name);
  }
});

test("an alert has one rule", () => {
  const names = rules.map(({ alert }) => alert);
  assert.deepEqual(names, [...new Set(names)]);
});

test("the page on monitoring says of each alert what to do", () => {
  const page = read("docs", "guides", "monitoring.md").toLowerCase();
  for (const { alert } of rules) {
    const words = alert.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
    assert.ok(page.includes(`| ${words} |`), words);
  }
});

test("each alert has series that fire it, and series that do not", () => {
  const { tests } = parse(read(RULE_TESTS)) as RuleTests;
  const expected = tests.flatMap(({ alert_rule_test: each }) => each);
  for (const { alert } of rules) {
    const cases = expected.filter(({ alertname }) => alertname === alert);
    assert.ok(
      cases.some(({ exp_alerts: fired = [] }) => fired.length > 0),
      `${alert} fires`,
    );
    assert.ok(
      cases.some(({ exp_alerts: fired = [] }) => fired.length === 0),
      `${alert} is silent`,
    );
  }
});

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

test("Prometheus fires them so", { skip: !hasPromtool && "promtool is not on PATH" }, () => {
  const { status, stdout, stderr } = spawnSync("promtool", ["test", "rules", RULE_TESTS], {
    cwd: ROOT,
    encoding: "utf8",
  });
  assert.equal(status, 0, `${stdout}${stderr}`);
});
