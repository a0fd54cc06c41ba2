import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createContext, Script } from "node:vm";

const root = fileURLToPath(new URL("..", import.meta.url));
const modules = join(root, "node_modules");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** A project that has the package, as npm would install it, and ethers. */
let project: string;
before(() => {
  project = mkdtempSync(join(tmpdir(), "evmint-consumer-"));
  const installed = join(project, "node_modules/evmint");
  const isDeclaration = (path: string) => !/\.[^/.]+$/.test(path) || /(\.d\.ts|\.json)$/.test(path);
  cpSync(join(root, "dist"), join(installed, "dist"), { recursive: true, filter: isDeclaration });
  cpSync(join(root, "dist/bundle"), join(installed, "dist/bundle"), { recursive: true });
  cpSync(join(root, "package.json"), join(installed, "package.json"));
  symlinkSync(join(modules, "ethers"), join(project, "node_modules/ethers"));
});
after(() => rmSync(project, { recursive: true, force: true }));

/** What the compiler finds wrong in a file `name`; nothing of Node.js is known to it. */
function compile(name: string, source: string, options: object): string {
  const folder = mkdtempSync(join(project, "case-"));
  writeFileSync(join(folder, name), source);
  const compilerOptions = { strict: true, noEmit: true, target: "es2022", types: [], ...options };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [name] }));
  const compiler = join(modules, "typescript/bin/tsc");
  return spawnSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" }).stdout;
}

const USE = `
export async function use(): Promise<string> {
  const node = await createNode({ settings: { "consensus.block-time": "1s" } });
  const balance: \`0x\${string}\` = await node.rpc.eth_getBalance(node.accounts[0]!.address, "latest");
  node.provider.on("message", ({ type }) => type.length);
  await node[Symbol.asyncDispose]();
  return balance;
}
`;
const ALONE = { skipLibCheck: false, lib: ["es2022"], exactOptionalPropertyTypes: true };

test("the plugins of test runners have types that need nothing else", () => {
  const source = `import evmint, { evmintPlugin } from "evmint/hardhat";
    import vitest, { chain } from "evmint/vitest";
    export const ids: string[] = [evmint.id, evmintPlugin({ network: "local", settings: {} }).id];
    export const plugins = [vitest({ restores: true })];
    export const head: Promise<string> = chain.rpc.eth_blockNumber();`;
  assert.equal(compile("use.mts", source, { ...ALONE, module: "nodenext" }), "");
  assert.equal(compile("use.ts", source, { ...ALONE, module: "esnext", moduleResolution: "bundler" }), "");
});

for (const entry of ["evmint", "evmint/browser"]) {
  const source = `import { createNode } from "${entry}";${USE}`;

  test(`${entry} has types that need neither those of Node.js nor of a browser`, () => {
    assert.equal(compile("use.mts", source, { ...ALONE, module: "nodenext" }), "");
    assert.equal(compile("use.ts", source, { ...ALONE, module: "esnext", moduleResolution: "bundler" }), "");
  });

  test(`a misuse of ${entry} is an error of the compiler`, () => {
    const wrong = source.replace('"latest"', "5");
    assert.match(compile("use.mts", wrong, { ...ALONE, module: "nodenext" }), /TS2345/);
  });
}

test("a CommonJS program has the types of evmint", () => {
  const source = `import evmint = require("evmint");\nconst { createNode } = evmint;${USE}`;
  assert.equal(compile("use.cts", source, { ...ALONE, module: "nodenext" }), "");
});

test("the provider is one of ethers, also with exactOptionalPropertyTypes", () => {
  for (const entry of ["evmint", "evmint/browser"]) {
    const source = `import { createNode } from "${entry}";
import { BrowserProvider } from "ethers";
export const connect = async () => new BrowserProvider((await createNode()).provider);`;
    const options = { module: "nodenext", skipLibCheck: true, exactOptionalPropertyTypes: true };
    assert.equal(compile("use.mts", source, options), "");
  }
});

test("resolution that knows no exports finds code and types", () => {
  const { main, types, typesVersions } = manifest;
  for (const path of [main, types, typesVersions["*"].browser[0]]) assert.ok(existsSync(join(root, path)), path);
  const require = createRequire(join(project, "index.js"));
  assert.equal(require(join(project, "node_modules/evmint", main)).createNode.name, "createNode");
});

/** What a runner of Node.js gives to the context of its tests. */
const SHARED_CLASSES = [
  "Buffer",
  "URL",
  "AbortController",
  "AbortSignal",
  "TextEncoder",
  "TextDecoder",
  "Uint8Array",
  "ArrayBuffer",
];

type Load = (path: string) => unknown;

/** A CommonJS loader that runs modules in a context of their own, as jest does: one that gets a module of ECMAScript fails. */
function isolatedLoader(context: object): Load {
  const load = (filename: string): unknown => {
    const { resolve } = createRequire(filename);
    const builtin = createRequire(filename);
    const localRequire = (name: string): unknown => {
      if (name === "module" || name === "node:module") return { ...builtin("node:module"), createRequire: requireFrom };
      return name.startsWith(".") ? load(resolve(name)) : builtin(name);
    };
    const module = { exports: {} };
    const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(filename, "utf8")}\n})`;
    const run = new Script(source, { filename }).runInContext(context);
    run.call(module.exports, module.exports, localRequire, module, filename, dirname(filename));
    return module.exports;
  };
  const requireFrom = (from: string) => {
    const base = createRequire(from);
    return (name: string) => (name.startsWith(".") ? load(base.resolve(name)) : base(name));
  };
  return load;
}

test('require("evmint") gives a node in a test runner that has a context of its own, whose answers are of that context', async () => {
  const names = Object.getOwnPropertyNames(globalThis).filter((name) => name === "console" || /^[a-z]/.test(name));
  const shared = Object.fromEntries(names.map((name) => [name, Reflect.get(globalThis, name)]));
  const bytes = Object.fromEntries(SHARED_CLASSES.map((name) => [name, Reflect.get(globalThis, name)]));
  const context = createContext({ ...shared, ...bytes });
  const entry = createRequire(join(project, "index.js")).resolve("evmint");
  const { createNode } = isolatedLoader(context)(entry) as typeof import("../src/index.ts");
  const node = await createNode();
  try {
    const accounts = await node.provider.request({ method: "eth_accounts" });
    assert.equal((accounts as unknown[]).length, node.accounts.length);
    assert.equal(Object.getPrototypeOf(accounts), new Script("Array.prototype").runInContext(context));
  } finally {
    await node.stop();
  }
});
