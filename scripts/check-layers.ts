/** Checks that every file of `src/` imports only from its own directory and from those above it in LAYERS. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** Lowest first: a directory may import itself and what stands before it. Test files may import anything. */
const LAYERS = [
  "errors.ts",
  "telemetry",
  "wasm",
  "primitives",
  "crypto",
  "params",
  "types",
  "storage",
  "trie",
  "evm",
  "state",
  "execution",
  "chain",
  "mempool",
  "keystore",
  "tracing",
  "consensus",
  "rpc",
  "config",
  "node",
  "cli",
  "index.ts",
];

const src = fileURLToPath(new URL("../src", import.meta.url));

/** One line a fault; empty when the layers hold. */
export function checkLayers(): string[] {
  const faults: string[] = [];
  for (const file of sources(src)) {
    const from = layerOf(file);
    if (LAYERS.indexOf(from) === -1) faults.push(`${file}: "${from}" is not in the layer list`);
    const text = readFileSync(join(src, file), "utf8");
    for (const match of text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
      const target = relative(src, join(src, file, "..", match[1]!));
      if (target.startsWith("..")) continue;
      const to = layerOf(target);
      if (LAYERS.indexOf(to) > LAYERS.indexOf(from)) {
        faults.push(`${file}: ${from} must not import ${to} (${match[1]})`);
      }
    }
  }
  return faults;
}

function layerOf(file: string): string {
  return file.split("/")[0]!;
}

function sources(dir: string, base = ""): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(base, entry.name);
    if (entry.isDirectory()) return sources(join(dir, entry.name), path);
    return entry.name.endsWith(".ts") &&
      !entry.name.endsWith(".test.ts") &&
      !path.includes("testing/")
      ? [path]
      : [];
  });
}
