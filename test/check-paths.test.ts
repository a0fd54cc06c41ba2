import assert from "node:assert/strict";
import { test } from "node:test";
import { checkPaths } from "../scripts/check-paths.ts";

const tree = (files: Readonly<Record<string, string>>) =>
  new Map(Object.entries(files).map(([path, text]) => [path, () => text]));

const SOUND = {
  "docs/adr/0007-engine.md": "# 7. Engine\n\n## Why not C\n",
  "src/evm/engine.ts": "export const a = 1;",
  "src/evm/engine.test.ts": "",
};

/** Written apart from its folder: this file's own comments are checked too. */
const NONE = "none.ts";

const faultsOf = (path: string, text: string) => checkPaths(tree({ ...SOUND, [path]: text }));

test("checkPaths accepts links, anchors, paths, stems, ends of paths and placeholders that name something", () => {
  const text = [
    "[why](docs/adr/0007-engine.md#why-not-c), [engine](src/evm/engine.ts), [folder](src/evm/), [web](https://a.b/src/none.ts)",
    "`src/evm/engine`, `engine.ts`, `evm/engine.ts`, `src/evm/NAME/topic.ts`, `src/evm/*.test.ts`, ADR 7",
    "[7]: docs/adr/0007-engine.md",
    "```js file=mine.ts\nimport 'src/none.ts';\n```",
    "`mine.ts`",
  ].join("\n");
  assert.deepEqual(faultsOf("README.md", text), []);
});

test("checkPaths names line and target of each dead reference of a document", () => {
  for (const [text, target] of [
    ["[a](docs/none.md)", "docs/none.md"],
    ["[a](docs/adr/0007-engine.md#why)", "docs/adr/0007-engine.md#why"],
    ["[a](#none)", "#none"],
    ["[a]: docs/none.md", "docs/none.md"],
    ["in src/evm/none.ts.", "src/evm/none.ts"],
    ["`src/none/NAME/topic.ts`", "src/none"],
    ["`evm/none.ts`", "evm/none.ts"],
    ["`none.ts`", "none.ts"],
    ["see ADR 8", "ADR 8"],
  ] as const) {
    assert.deepEqual(faultsOf("README.md", `# Title\n\n${text}\n`), [`README.md:3: ${target}`]);
  }
});

test("checkPaths reads the links of a file from its folder", () => {
  assert.deepEqual(faultsOf("docs/a.md", "[a](adr/0007-engine.md) [b](../src/evm/engine.ts)"), []);
  assert.deepEqual(faultsOf("docs/a.md", "[a](docs/adr/0007-engine.md)"), ["docs/a.md:1: docs/adr/0007-engine.md"]);
});

test("checkPaths reads comments of sources and nothing else of them", () => {
  assert.deepEqual(faultsOf("src/a.ts", 'const url = "http://a/src/none.ts";\n// ADR 7'), []);
  const comment = ["/**", " * See ADR 8 and docs/NONE.", " */"].join("\n").replace("NONE", NONE);
  const faults = [`src/a.ts:2: docs/${NONE}`, "src/a.ts:2: ADR 8"];
  assert.deepEqual(faultsOf("src/a.ts", comment), faults);
  const code = ["f(); //", `src/${NONE}`].join(" ");
  assert.deepEqual(faultsOf("src/a.ts", code), [`src/a.ts:1: src/${NONE}`]);
});

test("documents and comments of this repository refer to what exists", () => {
  assert.deepEqual(checkPaths(), []);
});
