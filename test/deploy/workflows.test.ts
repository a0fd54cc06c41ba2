import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { ROOT } from "../../scripts/reference/page.ts";
import { NODE_VERSIONS } from "../../scripts/test/plan.ts";

type Step = { readonly run?: string; readonly with?: Readonly<Record<string, unknown>> };
type Workflow = {
  readonly jobs: Readonly<
    Record<
      string,
      { readonly steps: readonly Step[]; readonly strategy?: { readonly matrix: { readonly node: readonly string[] } } }
    >
  >;
};

const FOLDER = join(ROOT, ".github", "workflows");
const { scripts, engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
};
const workflows = readdirSync(FOLDER).map(
  (file) => [file, parse(readFileSync(join(FOLDER, file), "utf8")) as Workflow] as const,
);
const stepsOf = (workflow: Workflow) => Object.values(workflow.jobs).flatMap(({ steps }) => steps);

test("workflows run scripts that the package has", () => {
  for (const [file, workflow] of workflows) {
    const commands = stepsOf(workflow).flatMap(({ run }) => run ?? []);
    assert.ok(commands.length > 0, file);
    for (const command of commands) {
      const [, script] = /^npm (?:run )?([\w:]+)/.exec(command) ?? [];
      if (script !== undefined && script !== "publish") assert.ok(script in scripts, `${file}: ${command}`);
      if (command.startsWith(".ci/")) assert.ok(existsSync(join(ROOT, command)), `${file}: ${command}`);
    }
  }
});

test("continuous integration covers the lowest version of Node.js and each that users have", () => {
  const [, ci] = workflows.find(([file]) => file === "ci.yml")!;
  const lowest = ci.jobs["all"]!.steps.find((step) => step.with?.["node-version"] !== undefined)!;
  assert.equal(`>=${lowest.with!["node-version"]}.0`, engines.node);
  assert.deepEqual(["20", ...ci.jobs["test"]!.strategy!.matrix.node], [...NODE_VERSIONS]);
});
