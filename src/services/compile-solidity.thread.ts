import { createRequire } from "node:module";
import { serveThread } from "../threads/serve-thread.ts";

type Solc = { compile(input: string): string; version(): string };

/** No dependency of ours: those who want the compiler install it. */
const loadSolc = () => createRequire(import.meta.url)("solc") as Solc;

const solidity = {
  version: (_input: undefined) => loadSolc().version(),
  /** From standard JSON to standard JSON. Without an import callback an import is an error of the source: no file and no URL is read. */
  compile: (input: object) => loadSolc().compile(JSON.stringify(input)),
};
export type Solidity = typeof solidity;
serveThread(solidity);
