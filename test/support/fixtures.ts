import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The folder of official vectors and recorded chains; they are no part of the repository. */
export const fixturesDir = resolve(root, process.env["EVMINT_FIXTURES"] ?? "../shared/fixtures");

/** Path of a fixture, or undefined if it is missing: the test is skipped with a message. */
export function fixture(...path: string[]): string | undefined {
  const full = join(fixturesDir, ...path);
  return existsSync(full) ? full : undefined;
}

/** The `skip` of a test that needs fixtures: false when they are there, else the line to show. */
export function skipWithout(path: string | undefined, name: string): false | string {
  return path === undefined ? `left out: ${name} not found in ${fixturesDir}` : false;
}

/** Every JSON file below `dir`, or `dir` itself when it is one, sorted. */
export function jsonFiles(dir: string): string[] {
  if (dir.endsWith(".json")) return [dir];
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => join(dir, file));
}
