import { createRequire } from "node:module";
import { serveThread } from "../../base/threads/serve-thread.ts";
import { assertCompilerMayGrow, type CompilerMemoryError, compiledText } from "./compiler-limits.ts";

type Solc = { compile(input: string): string; version(): string };

/** Not our dependency: users who want the compiler install it. */
const loadSolc = () => createRequire(import.meta.url)("solc") as Solc;

const WASM_PAGE_BYTES = 65_536;

/**
 * Checks every growth of WebAssembly memory in this thread in advance.
 * @returns the last refusal. The compiler retries with smaller growths, and reports the refusal as one of several errors if it gives up
 */
function boundMemory(): () => CompilerMemoryError | undefined {
  const { prototype } = WebAssembly.Memory;
  const { grow } = prototype;
  let refusal: CompilerMemoryError | undefined;
  prototype.grow = function (pages) {
    try {
      assertCompilerMayGrow(pages * WASM_PAGE_BYTES);
    } catch (error) {
      refusal = error as CompilerMemoryError;
      throw error;
    }
    return grow.call(this, pages);
  };
  return () => refusal;
}

const solidity = {
  version: (_input: undefined) => loadSolc().version(),
  /**
   * The contracts of standard JSON `input`, as JSON. Without an import callback, imports are errors of the source: no file and no URL is read.
   * @throws CompilerError, CompilerMemoryError
   */
  compile(input: object) {
    const solc = loadSolc();
    const refusal = boundMemory();
    try {
      return compiledText(solc.compile(JSON.stringify(input)));
    } catch (error) {
      throw refusal() ?? error;
    }
  },
};
export type Solidity = typeof solidity;
serveThread(solidity);
