import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** How Node.js runs a test module in a separate process. */
export type TestProgram = { readonly execArgv: readonly string[]; readonly file: string };

/** @param source its URL. The runner compiles those of PROGRAMS (scripts/test/plan.ts): transpiling one on the way in takes a second of CPU, at each start. */
export function testProgram(source: URL): TestProgram {
  const file = fileURLToPath(source);
  const compiled = process.env["TEST_COMPILED"];
  if (compiled === undefined) return { execArgv: ["--import", import.meta.resolve("tsx")], file };
  return { execArgv: [], file: join(compiled, relative(root, file).replace(/\.ts$/, ".mjs")) };
}
