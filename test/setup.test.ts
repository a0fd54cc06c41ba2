import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const modules = join(root, "node_modules");
/** What the compiler needs to run, and the record npm leaves. */
const NEEDED = [
  "typescript",
  "@typescript",
  "tsx",
  "get-tsconfig",
  "@types",
  "undici-types",
  "esbuild",
  "@esbuild",
  ".package-lock.json",
];

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), "evmint-clone-"));
  for (const folder of [
    "bin",
    "scripts/site",
    "src/package/bundle",
    "src/web/explorer/ui",
    "src/base/wasm",
    "fake-bin",
  ])
    mkdirSync(join(clone, folder), { recursive: true });
  for (const folder of ["platform", "worker"])
    mkdirSync(join(clone, "src/package/browser", folder), { recursive: true });
  for (const file of [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.build.json",
    "scripts/setup.mjs",
    "scripts/browser.mjs",
    "scripts/bundle.mjs",
    "scripts/explorer.mjs",
    "scripts/pages.mjs",
    "scripts/types.mjs",
    "scripts/warm-up.mjs",
    "src/package/bundle/load-bundle.ts",
    "src/package/bundle/worker.ts",
    "src/package/bundle/evmintd.ts",
    "src/package/bundle/library.ts",
    "src/package/bundle/import-package.ts",
    "src/web/explorer/ui/index.html",
    "src/base/wasm/deoptimisation.ts",
    "bin/evmintd.js",
    "bin/package.json",
  ]) {
    copyFileSync(join(root, file), join(clone, file));
  }
  mkdirSync(join(clone, "src/package/plugins"));
  for (const name of ["hardhat", "vitest", "vitest-setup"]) {
    writeFileSync(join(clone, `src/package/plugins/${name}.ts`), "export const plugin = 1;\n");
  }
  writeFileSync(join(clone, "src/a.ts"), 'import { b } from "./b.ts";\nexport const a: number = b;\n');
  writeFileSync(join(clone, "src/b.ts"), "export const b = 1;\n");
  writeFileSync(
    join(clone, "src/package/bundle/exports.ts"),
    `import { a } from "../../a.ts";
import type { CreateNodeOptions, EvmintNode } from "../../index.ts";
export async function main(_entry?: string) {
  console.log(a);
}
export const [ProviderRpcError, runWorkerEntry] = [main, main];
export function createNode(_options?: CreateNodeOptions): Promise<EvmintNode> {
  throw new Error("no node");
}
`,
  );
  writeFileSync(
    join(clone, "src/index.ts"),
    `export type CreateNodeOptions = object;
export type EvmintNode = AsyncDisposable & { stop(): Promise<void> };
`,
  );
  mkdirSync(join(clone, "src/evm/machine/modules"), { recursive: true });
  writeFileSync(
    join(clone, "src/evm/machine/modules/emit-stored-interpreters.ts"),
    'export const packStoredInterpreters = () => ({ sizes: {}, compressed: "" });\n',
  );
  writeFileSync(join(clone, "src/package/bundle/viem.ts"), "export const viem = 1;\n");
  // The real one reads the declarations of all methods.
  mkdirSync(join(clone, "src/rpc"));
  writeFileSync(
    join(clone, "scripts/rpc-types.ts"),
    'import { writeFileSync } from "node:fs";\nwriteFileSync(process.argv[2]!, "export type Hex = string;\\n");\n',
  );
  // The documentation needs all of docs/ and packages of its own.
  // As the real one it needs a package, which a bare clone has only once it is installed.
  writeFileSync(join(clone, "scripts/site/build.mjs"), 'import "esbuild";\nexport async function buildSite() {}\n');
  writeFileSync(join(clone, "src/web/explorer/ui/first-block.ts"), "export const first = 1;\n");
  writeFileSync(join(clone, "src/web/explorer/ui/main.tsx"), 'document.title = "a";\n');
  writeFileSync(join(clone, "src/web/explorer/ui/style.css"), "body { margin: 0; }\n");
  writeFileSync(join(clone, "src/package/browser/platform/buffer.ts"), "export const Buffer = Uint8Array;\n");
  for (const file of ["index", "platform/globals", "worker/worker"])
    writeFileSync(join(clone, `src/package/browser/${file}.ts`), "export const browser = 1;\n");
  // An npm that installs from the folder beside it, and says that it ran.
  const npm = join(clone, "fake-bin/npm");
  const links = NEEDED.map((name) => `ln -s "${modules}/${name}" "node_modules/${name}"`);
  writeFileSync(
    npm,
    `#!/bin/sh\nrm -rf node_modules; mkdir node_modules\n${links.join("\n")}\necho "$@" >> npm-calls\n`,
  );
  chmodSync(npm, 0o755);
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

function setup(...args: string[]) {
  const path = [join(clone, "fake-bin"), process.env["PATH"]].join(delimiter);
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(clone, "scripts/setup.mjs"), ...args], {
    encoding: "utf8",
    cwd: tmpdir(),
    env: { ...process.env, PATH: path },
  });
  assert.equal(stdout, "");
  return { status, stderr };
}

const runBuilt = () => execFileSync(process.execPath, [join(clone, "bin/evmintd.js")], { encoding: "utf8" }).trim();
const npmCalls = () => readFileSync(join(clone, "npm-calls"), "utf8").trim().split("\n");

test("setup on a bare clone installs and builds once, then has nothing to do and says nothing", () => {
  const first = setup();
  assert.equal(first.status, 0, first.stderr);
  assert.notEqual(first.stderr, "");
  assert.match(npmCalls()[0]!, /^ci .*--include=dev/);
  assert.equal(runBuilt(), "1");
  assert.deepEqual(setup(), { status: 0, stderr: "" });
  assert.equal(npmCalls().length, 1);
});

test("setup installs what npm ci --omit=optional left out, and names it where npm leaves it out again", () => {
  setup();
  const record = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8"));
  const binary = `@typescript/typescript-${process.platform}-${process.arch}`;
  delete record.packages[`node_modules/${binary}`];
  const path = join(clone, "node_modules/.package-lock.json");
  const omit = () => {
    rmSync(path, { force: true });
    writeFileSync(path, JSON.stringify(record));
    rmSync(join(clone, "node_modules/.evmint-installed"), { force: true });
  };
  omit();
  assert.equal(setup().status, 0);
  assert.match(npmCalls()[1]!, /--include=optional/);

  // An npm that leaves it out whatever it is asked.
  const npm = join(clone, "fake-bin/npm");
  const source = join(clone, "record.json");
  writeFileSync(source, JSON.stringify(record));
  const script = readFileSync(npm, "utf8");
  writeFileSync(npm, `${script}rm node_modules/.package-lock.json; cp "${source}" node_modules/.package-lock.json\n`);
  omit();
  const { status, stderr } = setup();
  assert.equal(status, 1);
  assert.ok(stderr.includes(binary));
});

test("setup rebuilds for a changed, a new and a removed source, and for --build", () => {
  setup();
  writeFileSync(join(clone, "src/b.ts"), "export const b = 22;\n");
  assert.notEqual(setup().stderr, "");
  assert.equal(runBuilt(), "22");
  writeFileSync(join(clone, "src/c.ts"), "export const c = 3;\n");
  const index = join(clone, "src/index.ts");
  const entry = readFileSync(index, "utf8");
  writeFileSync(index, `${entry}export { c } from "./c.ts";\n`);
  setup();
  assert.ok(existsSync(join(clone, "dist/c.d.ts")));
  assert.ok(!existsSync(join(clone, "dist/b.d.ts")), "the entry does not need it");
  rmSync(join(clone, "src/c.ts"));
  writeFileSync(index, entry);
  setup();
  assert.ok(!existsSync(join(clone, "dist/c.d.ts")));
  assert.equal(setup().stderr, "");
  assert.notEqual(setup("--build").stderr, "");
  // Tests are not built, so they do not make a build stale.
  writeFileSync(join(clone, "src/b.test.ts"), "");
  assert.equal(setup().stderr, "");
});

test("setup fails when the sources do not compile, and leaves the last build as it was", () => {
  setup();
  writeFileSync(join(clone, "src/b.ts"), 'export const b = "text";\n');
  const { status, stderr } = setup();
  assert.equal(status, 1);
  assert.ok(stderr.includes("src/a.ts"));
  assert.equal(runBuilt(), "1");
  assert.equal(setup().status, 1);
});

test("setup installs anew when package-lock.json changes, not when somebody installed by hand", () => {
  setup();
  rmSync(join(clone, "node_modules/.evmint-installed"));
  assert.deepEqual(setup(), { status: 0, stderr: "" });
  assert.equal(npmCalls().length, 1);
  const lock = join(clone, "package-lock.json");
  writeFileSync(lock, `${readFileSync(lock, "utf8")}\n`);
  assert.equal(setup().status, 0);
  assert.equal(npmCalls().length, 2);
});

test("setup never installs into a linked node_modules", () => {
  symlinkSync(modules, join(clone, "node_modules"));
  const { status } = setup();
  assert.equal(status, 0);
  assert.ok(!existsSync(join(clone, "npm-calls")));
  assert.equal(setup().stderr, "");
});

test("package-lock.json holds every optional package of every platform, or npm ci refuses it", () => {
  type Package = { optionalDependencies?: Record<string, string> };
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const packages = lock.packages as Record<string, Package>;
  const present = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, "")));
  const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies));
  assert.deepEqual(
    wanted.filter((name) => !present.has(name)),
    [],
  );
});
