import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildBrowser } from "../../scripts/browser.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

export type BrowserModule = typeof import("../../src/package/browser/index.ts");

/** The modules of `dist/browser`, built from the sources of this checkout. */
export async function buildForTests() {
  const folder = mkdtempSync(join(tmpdir(), "evmint-browser-"));
  const { metafile } = await buildBrowser(root, folder);
  const { outputs } = metafile;
  return {
    folder,
    metafile,
    /** Files that a page loads before the module runs. */
    firstFiles() {
      const first = Object.keys(outputs).filter((path) => basename(path) === "index.js");
      for (const path of first) {
        for (const { path: next, kind } of outputs[path]!.imports) {
          if (kind === "import-statement" && !first.includes(next)) first.push(next);
        }
      }
      return first.map((path) => join(folder, basename(path)));
    },
    /** The module as Node runs it. */
    load: () => import(pathToFileURL(join(folder, "index.js")).href) as Promise<BrowserModule>,
    remove: () => rmSync(folder, { recursive: true }),
  };
}
