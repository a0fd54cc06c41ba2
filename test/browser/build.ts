import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildBrowser } from "../../scripts/browser.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

export type BrowserModule = typeof import("../../src/browser/index.ts");

/** The modules of `dist/browser`, built from the sources of this checkout. */
export async function buildForTests() {
  const folder = mkdtempSync(join(tmpdir(), "evmint-browser-"));
  const { metafile } = await buildBrowser(root, folder);
  return {
    folder,
    metafile,
    /** The module as Node runs it. */
    load: () => import(pathToFileURL(join(folder, "index.js")).href) as Promise<BrowserModule>,
    remove: () => rmSync(folder, { recursive: true }),
  };
}
