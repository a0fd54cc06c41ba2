import { execFileSync } from "node:child_process";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** Chromium on PATH; undefined where there is none: tests in it are left out. */
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

export function launchChromium(executablePath: string): Promise<Browser> {
  // root, as in containers, has no sandbox.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args });
}
