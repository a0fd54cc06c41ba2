import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Text of every source file of `src/` that is not a test, by its path from there. */
export function* sources(): Generator<readonly [path: string, text: string]> {
  const src = join(ROOT, "src");
  for (const path of readdirSync(src, { recursive: true, encoding: "utf8" }).sort()) {
    const isSource = path.endsWith(".ts") && !path.includes(".test.");
    if (isSource) yield [path, readFileSync(join(src, path), "utf8")];
  }
}

/** A table of Markdown; a vertical line inside of a cell would end it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}

/** The text of a comment between its marks, on one line. */
export function proseOf(comment: string): string {
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\* ?/, "").trim());
  return lines.join(" ").trim();
}
