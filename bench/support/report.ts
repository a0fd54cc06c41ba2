import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const results = fileURLToPath(new URL("../results", import.meta.url));
/** Figures are of the oldest version that is supported, where the name of their file does not say another one. */
const FLOOR = "20";

/** Path of the result of a benchmark on the version of Node.js that runs this. */
function resultFile(name: string): string {
  const major = process.versions.node.split(".")[0]!;
  return join(results, major === FLOOR ? `${name}.json` : `${name}.node-${major}.json`);
}

/** Writes the result with commit, Node version and CPU beside the figures, and `summary` where there is one. */
export function writeResult(name: string, rows: readonly object[], summary: object = {}): void {
  mkdirSync(results, { recursive: true });
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  const about = { commit, node: process.version, cpu: cpus()[0]?.model, cores: cpus().length };
  writeFileSync(resultFile(name), `${JSON.stringify({ ...about, ...summary, rows }, null, 2)}\n`);
}

/** As `writeResult`, but rows of the file that no row of `rows` is about stay: a measurement in parts. @param about what a row is about */
export function updateResult<Row extends object>(
  name: string,
  rows: readonly Row[],
  about: (row: Row) => string,
): void {
  const measured = new Set(rows.map(about));
  const file = resultFile(name);
  const { rows: known = [] } = existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as { readonly rows?: readonly Row[] })
    : {};
  writeResult(name, [...known.filter((row) => !measured.has(about(row))), ...rows]);
}

/** Prints rows of equal shape as an aligned table. */
export function printTable(rows: readonly Readonly<Record<string, string | number>>[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const text = rows.map((row) => columns.map((column) => format(row[column]!)));
  const widths = columns.map((column, i) => Math.max(column.length, ...text.map((cells) => cells[i]!.length)));
  const line = (cells: readonly string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join("  ");
  console.log(line(columns));
  for (const cells of text) console.log(line(cells));
}

function format(value: string | number): string {
  if (typeof value === "string") return value;
  return value >= 1000 ? Math.round(value).toString() : value.toPrecision(3);
}
