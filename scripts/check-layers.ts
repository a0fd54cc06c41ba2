/**
 * Checks the structure of `src/`: a room imports only from itself and from rooms before it in ROOMS, and neither files nor the children of any folder (its
 * files and folders) depend on each other in a circle. So each folder has an order, without a list that somebody has to keep.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** Lowest first. Test files may import anything. */
const ROOMS = [
  "base",
  "store",
  "evm",
  "chain",
  "consensus",
  "heritage",
  "dev",
  "rpc",
  "web",
  "node",
  "cli",
  "index.ts",
  "package",
];

const src = fileURLToPath(new URL("../src", import.meta.url));

/** One line a fault; empty when the structure holds. @param imports files by path below `src/`, with those that they import */
export function checkLayers(imports: ReadonlyMap<string, readonly string[]> = importsOfSources()): string[] {
  const faults: string[] = [];
  for (const [file, targets] of imports) {
    const from = childOf("", file);
    if (!ROOMS.includes(from)) faults.push(`${file}: "${from}" is not in the list of rooms`);
    for (const target of targets) {
      const to = childOf("", target);
      if (ROOMS.indexOf(to) > ROOMS.indexOf(from)) faults.push(`${file}: ${from} must not import ${to} (${target})`);
    }
  }
  for (const folder of foldersOf(imports.keys())) {
    for (const circle of circles(childrenOf(folder, imports)))
      faults.push(`circle in ${folder}: ${circle.join(" -> ")}`);
  }
  return [...faults, ...circles(imports).map((circle) => `circle: ${circle.join(" -> ")}`)];
}

/** The children of `folder` with those that their files import. */
function childrenOf(folder: string, imports: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const children = new Map<string, Set<string>>();
  const isBelow = (file: string) => file.startsWith(`${folder}/`);
  for (const [file, targets] of imports) {
    if (!isBelow(file)) continue;
    const from = childOf(folder, file);
    const others = children.get(from) ?? new Set();
    children.set(from, others);
    for (const target of targets.filter(isBelow)) others.add(childOf(folder, target));
    others.delete(from);
  }
  return new Map(Array.from(children, ([child, others]) => [child, [...others]]));
}

/** The first name of `file` below `folder`, "" for `src/` itself. */
function childOf(folder: string, file: string): string {
  return file.slice(folder === "" ? 0 : folder.length + 1).split("/")[0]!;
}

function foldersOf(files: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const file of files) {
    const names = file.split("/");
    for (let depth = 1; depth < names.length; depth++) folders.add(names.slice(0, depth).join("/"));
  }
  return folders;
}

function importsOfSources(): Map<string, string[]> {
  return new Map(sources(src).map((file) => [file, importsOf(file)]));
}

/** Files of `src/` that `file` imports, for types too. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)]
    .map((match) => relative(src, join(src, file, "..", match[1]!)))
    .filter((target) => !target.startsWith(".."));
}

/** Each circle found by a walk in depth, its first name again at its end. */
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

function sources(dir: string, base = ""): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(base, entry.name);
    if (entry.isDirectory()) return sources(join(dir, entry.name), path);
    return /\.tsx?$/.test(entry.name) && !entry.name.endsWith(".test.ts") ? [path] : [];
  });
}
