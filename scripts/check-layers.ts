/** Checks that every file of `src/` imports only from its own directory and from those above it in LAYERS, and that no files import each other in a circle. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** Lowest first: a directory may import itself and what stands before it. Test files may import anything. */
const LAYERS = [
  "error-codes.ts",
  "errors.ts",
  "telemetry",
  "threads",
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
  "les",
  "shh",
  "consensus",
  "dev",
  "rpc",
  "explorer",
  "pages",
  "config",
  "compiled-contracts",
  "chain-files",
  "backup",
  "adapters",
  "profiling",
  "services",
  "observe",
  "calls",
  "processes",
  "node",
  "console",
  "cli",
  "index.ts",
  "plugins",
  "browser",
  "bundle",
];

/** The order inside a room, lowest first, by folder or file of it. A file of the room that no entry names is a fault. */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  rpc: ["transport", "ports", "methods", "method-types.ts"],
  "rpc/transport": ["errors.ts", "codec.ts", "limits.ts", "memory-budget.ts", "auth", "dispatch", "server"],
  "rpc/methods": [
    "json",
    "params",
    "filters",
    "subscriptions",
    "call-bundles.ts",
    "sessions.ts",
    "example-values.ts",
    "hash-slices.ts",
    "rpc-ports.ts",
    "web3",
    "net",
    "rpc",
    "eth",
    "debug",
    "trace",
    "ots",
    "erigon",
    "block-testing",
    "txpool",
    "personal",
    "miner",
    "admin",
    "clique",
    "db",
    "les",
    "shh",
    "dev",
    "methods.ts",
  ],
};

const src = fileURLToPath(new URL("../src", import.meta.url));

/** One line a fault; empty when the layers hold. */
export function checkLayers(): string[] {
  const faults: string[] = [];
  const imports = new Map(sources(src).map((file) => [file, importsOf(file)]));
  for (const [file, targets] of imports) {
    const from = layerOf(file);
    if (LAYERS.indexOf(from) === -1) faults.push(`${file}: "${from}" is not in the layer list`);
    for (const target of targets) {
      if (target.startsWith("..")) {
        faults.push(`${file}: sources import nothing from outside of src (${target})`);
        continue;
      }
      const to = layerOf(target);
      if (LAYERS.indexOf(to) > LAYERS.indexOf(from)) {
        faults.push(`${file}: ${from} must not import ${to} (${target})`);
      }
      const fault = floorFault(file, target);
      if (fault !== undefined) faults.push(fault);
    }
  }
  return [...faults, ...circles(imports).map((circle) => `circle: ${circle.join(" -> ")}`)];
}

/** Why `file` may not import `target`, which is in the same room, or in a room on the same floor. */
function floorFault(file: string, target: string): string | undefined {
  for (const [room, floors] of Object.entries(FLOORS)) {
    if (!file.startsWith(`${room}/`)) continue;
    const [from, to] = [file, target].map((path) => floors.indexOf(path.slice(room.length + 1).split("/")[0]!)) as [
      number,
      number,
    ];
    if (from === -1) return `${file}: no floor of ${room}/ names it`;
    if (target.startsWith(`${room}/`) && to > from) {
      return `${file}: ${floors[from]} must not import ${floors[to]} (${target})`;
    }
  }
  return undefined;
}

/** Files that `file` imports, for types too, seen from `src/`. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) =>
    relative(src, join(src, file, "..", match[1]!)),
  );
}

/** Each circle found by a walk in depth, its first file named again at its end. */
export function circles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const start = path.indexOf(file);
    if (start >= 0) found.push([...path.slice(start), file]);
    if (start >= 0 || done.has(file)) return;
    path.push(file);
    for (const target of imports.get(file) ?? []) visit(target);
    path.pop();
    done.add(file);
  };
  for (const file of imports.keys()) visit(file);
  return found;
}

function layerOf(file: string): string {
  return file.split("/")[0]!;
}

function sources(dir: string, base = ""): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(base, entry.name);
    if (entry.isDirectory()) return sources(join(dir, entry.name), path);
    return /\.tsx?$/.test(entry.name) && !entry.name.endsWith(".test.ts") ? [path] : [];
  });
}
