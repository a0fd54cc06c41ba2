/** What 10,000 eth_calls of the deepest and largest programs leave allocated, in a process of their own. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { printTable, writeResult } from "../support/report.ts";

const CHILD = fileURLToPath(new URL("./memory-calls.ts", import.meta.url));

/** Prints as the child does, one row a line of JSON. */
export async function run(): Promise<void> {
  const { stdout, status } = spawnSync(process.execPath, ["--expose-gc", "--import", "tsx", CHILD], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 24,
  });
  if (status !== 0) throw new Error(`${CHILD} exited with ${status}`);
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Readonly<Record<string, string | number>>);
  printTable(rows);
  writeResult("evm-memory", rows);
}
