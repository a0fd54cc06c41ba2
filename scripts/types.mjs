/** The declarations that the package publishes: those that its entries need, and none of the node's inside. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ENTRIES = [
  "index.d.ts",
  "package/browser/index.d.ts",
  "package/plugins/hardhat.d.ts",
  "package/plugins/vitest.d.ts",
];
/** The same declarations for programs that `require`: TypeScript goes by the `type` of the nearest package.json. */
const COMMONJS = "commonjs";

/** @param directory holds what the compiler has written */
export function publishTypes(directory) {
  const published = new Set();
  for (const entry of ENTRIES) addImports(directory, entry, published);
  for (const path of declarations(directory)) if (!published.has(path)) rmSync(join(directory, path));
  removeEmptyFolders(directory);
  for (const path of published) cpSync(join(directory, path), join(directory, COMMONJS, path));
  mkdirSync(join(directory, COMMONJS), { recursive: true });
  writeFileSync(join(directory, COMMONJS, "package.json"), '{ "type": "commonjs" }\n');
}

function addImports(directory, path, published) {
  if (published.has(path)) return;
  published.add(path);
  const text = readFileSync(join(directory, path), "utf8");
  for (const [, specifier] of text.matchAll(/(?:\bfrom|\bimport\(|\bimport)\s*"([^"]+)"/g)) {
    if (!specifier.startsWith(".")) throw new Error(`${path}: the published types import ${specifier}`);
    addImports(directory, join(dirname(path), specifier.replace(/\.ts$/, ".d.ts")).replaceAll("\\", "/"), published);
  }
}

function declarations(directory) {
  return readdirSync(directory, { recursive: true })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".d.ts"));
}

function removeEmptyFolders(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(directory, entry.name);
    removeEmptyFolders(path);
    if (readdirSync(path).length === 0) rmdirSync(path);
  }
}
