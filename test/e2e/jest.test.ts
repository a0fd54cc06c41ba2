import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT } from "../../scripts/reference/page.ts";

/*
 * jest runs modules in a context and a module system of its own. `npm install --prefix DIR jest ts-jest typescript@5 @types/jest`, then
 * `JEST_DIR=DIR npm test -- test/e2e/jest`. The package under test is this checkout.
 */
const directory = process.env["JEST_DIR"];
const modules = join(directory ?? "", "node_modules");
const isInstalled = (name: string) => directory !== undefined && existsSync(join(modules, name, "package.json"));
const skip = !isInstalled("jest") && "left out: JEST_DIR names no folder with jest";
const skipTypes = !isInstalled("ts-jest") && "left out: JEST_DIR names no folder with ts-jest";

let project: string;
before(() => {
  project = mkdtempSync(join(tmpdir(), "evmint-jest-"));
  mkdirSync(join(project, "node_modules"));
  symlinkSync(ROOT, join(project, "node_modules/evmint"));
  writeFileSync(join(project, "package.json"), "{}");
});
after(() => rmSync(project, { recursive: true, force: true }));

/** Runs the file `name` alone. */
function runJest(name: string, source: string, config: object) {
  writeFileSync(join(project, name), source);
  writeFileSync(join(project, "jest.config.json"), JSON.stringify({ rootDir: project, ...config }));
  const { NODE_OPTIONS: _, ...env } = process.env;
  const args = [
    join(modules, "jest/bin/jest.js"),
    "--no-cache",
    "--colors=false",
    "-c",
    join(project, "jest.config.json"),
  ];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: "utf8", env });
  rmSync(join(project, name));
  assert.equal(status, 0, stderr);
  return stderr;
}

const BODY = `
let node;
beforeAll(async () => { node = await createNode(); });
afterAll(() => node.stop());
test("a transaction is undone by its snapshot", async () => {
  const [from, to] = node.accounts.map(({ address }) => address);
  const id = await node.snapshot();
  const hash = await node.rpc.eth_sendTransaction({ from, to, value: 5n });
  expect((await node.rpc.eth_getTransactionReceipt(hash)).status).toBe("0x1");
  expect(await node.revert(id)).toBe(true);
  expect(await node.rpc.eth_blockNumber()).toBe("0x0");
});
`;

test("a CommonJS test of jest requires the package", { skip }, () => {
  const output = runJest("evmint.test.js", `const { createNode } = require("evmint");${BODY}`, {});
  assert.match(output, /Tests: +1 passed, 1 total/);
});

test("ts-jest compiles a test with the module resolution of node10, types and all", { skip: skipTypes }, () => {
  const tsconfig = {
    module: "commonjs",
    moduleResolution: "node10",
    ignoreDeprecations: "5.0",
    target: "es2022",
    strict: true,
    typeRoots: [join(modules, "@types")],
    types: ["jest"],
  };
  const transform = { "^.+\\.ts$": [join(modules, "ts-jest"), { tsconfig }] };
  const typed = BODY.replace("let node;", "let node: EvmintNode;")
    .replace("(await node.rpc.eth_getTransactionReceipt(hash))", "(await node.rpc.eth_getTransactionReceipt(hash))!")
    .replace("{ from, to, value: 5n }", "{ from: from!, to: to!, value: 5n }");
  const source = `import { createNode, type EvmintNode } from "evmint";${typed}`;
  const output = runJest("evmint.test.ts", source, { transform, testMatch: ["**/*.test.ts"] });
  assert.match(output, /Tests: +1 passed, 1 total/);
});
