/** Rules about the sources that neither types nor the linter express. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ERROR_CODES } from "../src/base/error-codes.ts";

/** Calls that only one file may make, with the reason. */
const ONLY_IN: readonly { readonly file: string; readonly call: RegExp; readonly why: string }[] = [
  {
    file: "base/wasm/compile.ts",
    call: /new WebAssembly\.Module\(|WebAssembly\.compile/,
    why: "it sets the flags of V8 before it compiles",
  },
  {
    file: "base/threads/start-thread.ts",
    call: /(?:worker|thread)\??\.terminate\(/i,
    why: "terminate alone can abort the process: NodeThread.end waits until the thread is outside of native addons",
  },
];

const src = fileURLToPath(new URL("../src", import.meta.url));

/** One line a fault; empty when the rules hold. @param tree path below `src/` to text */
export function checkSources(tree: ReadonlyMap<string, string> = sources()): string[] {
  const faults: string[] = [];
  const unused = new Set(Object.keys(ERROR_CODES));
  for (const [path, text] of tree) {
    for (const { file, call, why } of ONLY_IN) {
      // A page has no addons, and compiles with the flags of its browser.
      if (path !== file && !path.startsWith("package/browser/") && call.test(text))
        faults.push(`src/${path}: only src/${file} may do that: ${why}`);
    }
    if (path === "base/error-codes.ts") continue;
    for (const [, code] of text.matchAll(/"([A-Z][A-Z0-9_]+)"/g)) unused.delete(code!);
  }
  return [...faults, ...Array.from(unused, (code) => `src/base/error-codes.ts: no class has the code ${code}`)];
}

/** Without tests. */
function sources(): Map<string, string> {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !path.includes(".test."));
  return new Map(files.map((path) => [path, readFileSync(join(src, path), "utf8")]));
}
