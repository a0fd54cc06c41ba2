import { readFileSync } from "node:fs";
import { OPTIONS } from "../src/node/config/schema.ts";

/** How CHANGELOG.md says how many settings there are; the first such line counts. */
const COUNT = /\*\*(\d+) settings\*\*/;

/** How many settings there are, and how many CHANGELOG.md allows: each is read, tested and explained for ever, so that one more needs a reason there. */
export function countSettings(): { readonly count: number; readonly allowed: number } {
  const changelog = readFileSync(new URL("../CHANGELOG.md", import.meta.url), "utf8");
  return { count: OPTIONS.length, allowed: Number(COUNT.exec(changelog)?.[1] ?? 0) };
}
