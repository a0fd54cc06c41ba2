/** Part of `npm run docs`: writes the pages of docs/reference/, which describe what the sources declare. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorsPage } from "./errors-page.ts";
import { metricsPage } from "./metrics-page.ts";
import { ROOT } from "./page.ts";
import { rpcReference } from "./rpc-reference.ts";
import { settingsPage } from "./settings-page.ts";

const PAGES: Readonly<Record<string, () => string>> = {
  "docs/reference/errors.md": errorsPage,
  "docs/reference/metrics.md": metricsPage,
  "docs/reference/settings.md": settingsPage,
};

export function writeReference(): void {
  for (const [path, text] of Object.entries(PAGES)) writeFileSync(join(ROOT, path), text());
}

/** Pages of docs/reference/ and docs/rpc/ that differ from what they would be if they were written now. */
export function stalePages(): string[] {
  const rpc = [...rpcReference()].map(([path, text]) => [path, () => text] as const);
  return [...Object.entries(PAGES), ...rpc].flatMap(([path, text]) => {
    try {
      return readFileSync(join(ROOT, path), "utf8") === text() ? [] : [path];
    } catch {
      return [path];
    }
  });
}
