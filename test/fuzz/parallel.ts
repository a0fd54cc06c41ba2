/** `node --import tsx test/fuzz/parallel.ts [--seed N] [--count N] …`: random blocks, built serially and from recorded executions, have to be the same. */
import { parseArgs } from "node:util";
import type { Hardfork } from "../../src/base/params/hardforks.ts";
import { createEngines } from "../conformance/engines.ts";
import { compareParallel, SPECULATIONS } from "./parallel-block.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    /** Blocks */
    count: { type: "string", default: "1000" },
    /** Every block under the rules of this fork instead of a random one. */
    fork: { type: "string" },
    engine: { type: "string", default: "evmint" },
    /** Stop after so many findings. */
    stop: { type: "string", default: "5" },
  },
});
const evm = await createEngines(values.engine);
const first = Number(values.seed);
const count = Number(values.count);
const begun = performance.now();
let [blocks, findings, applied, conflicts, transactions] = [0, 0, 0, 0, 0];
for (let seed = first; blocks < count && findings < Number(values.stop); seed++) {
  // Each world is one block to build serially, and two to build from recorded executions.
  const kinds = [SPECULATIONS[seed % SPECULATIONS.length]!, SPECULATIONS[(seed + 2) % SPECULATIONS.length]!];
  const result = compareParallel(seed, evm, kinds, values.fork as Hardfork | undefined);
  blocks += kinds.length;
  applied += result.applied;
  conflicts += result.conflicts;
  transactions += result.transactions;
  if (result.difference === undefined) continue;
  findings++;
  console.log(`seed ${seed}, ${result.difference}`);
}
const seconds = (performance.now() - begun) / 1000;
console.log(
  `${findings} differences in ${blocks} blocks from seed ${first} on: ${transactions} transactions, ` +
    `${applied} applied, ${conflicts} with conflicts, ${Math.round(blocks / seconds)} blocks a second`,
);
process.exitCode = findings === 0 ? 0 : 1;
