import { execFileSync } from "node:child_process";
import { type Browser, chromium } from "playwright-core";
import { HANG_MS } from "../support/until.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** Chromium on PATH; undefined if there is none: its tests are skipped. */
export function chromiumPath(): string | undefined {
  for (const name of NAMES) {
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim();
    } catch {
      // Not under this name.
    }
  }
  return undefined;
}

export async function launchChromium(executablePath: string): Promise<Browser> {
  // root, as in containers, has no sandbox.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath, args, timeout: HANG_MS });
  return browser.on("context", (context) => context.setDefaultTimeout(HANG_MS));
}
