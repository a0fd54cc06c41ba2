/** `node --import tsx test/fuzz/evm.ts [--seed N] [--count N] …`: random contracts on two engines, which have to agree. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Hardfork } from "../../src/base/params/hardforks.ts";
import type { Hash } from "../../src/base/primitives/hash.ts";
import { hexDigits } from "../../src/base/primitives/hex.ts";
import { createEngines } from "../conformance/engines.ts";
import { assemble, type FuzzCase } from "./case.ts";
import { compareEngines, differenceAt } from "./compare.ts";
import { generateCase } from "./generate.ts";
import { shrink } from "./shrink.ts";

const FOUND = fileURLToPath(new URL("./found.json", import.meta.url));

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "1000" },
    /** The engines by their names in test/conformance/engines.ts. */
    engine: { type: "string", default: "evmint" },
    oracle: { type: "string", default: "ethereumjs-own-precompiles" },
    /** Every program under the rules of this fork instead of a random one. */
    fork: { type: "string" },
    /** Gas limits to run each case with: the first so many of those worth trying. */
    limits: { type: "string", default: "1000" },
    /** Also compare each opcode's gas, stack and memory. */
    steps: { type: "boolean", default: false },
    /** Append what was found to test/fuzz/found.json. */
    save: { type: "boolean", default: false },
    /** Stop after so many findings. */
    stop: { type: "string", default: "5" },
  },
});
const compiled = new Set<Hash>();
const engine = await createEngines(values.engine, { compiled });
const oracle = await createEngines(values.oracle, { compiled });
const options = { withSteps: values.steps, limits: Number(values.limits) };
const first = Number(values.seed);
const end = first + Number(values.count);
const found: FuzzCase[] = [];
const begun = performance.now();
let executions = 0;
let seed = first;
for (; seed < end && found.length < Number(values.stop); seed++) {
  const fuzzCase = generateCase(seed, values.fork as Hardfork | undefined);
  const { finding, ...counted } = compareEngines(fuzzCase, engine, oracle, options);
  executions += counted.executions;
  if (!finding) continue;
  const smallest = shrink(
    finding.fuzzCase,
    (candidate) => differenceAt(candidate, engine, oracle, options) !== undefined,
  );
  report(seed, smallest);
  found.push(smallest);
}
const seconds = (performance.now() - begun) / 1000;
console.log(
  `${found.length} differences in ${executions} executions of ${seed - first} cases, ` +
    `${compiled.size} programs compiled, seeds ${first} to ${seed - 1}, ` +
    `${Math.round(executions / seconds)} executions a second`,
);
if (values.save && found.length > 0) {
  const before = existsSync(FOUND) ? (JSON.parse(readFileSync(FOUND, "utf8")) as FuzzCase[]) : [];
  writeFileSync(FOUND, `${JSON.stringify([...before, ...found], null, 2)}\n`);
}
process.exit(found.length === 0 ? 0 : 1);

function report(seed: number, fuzzCase: FuzzCase): void {
  console.log(`seed ${seed}, ${fuzzCase.hardfork}, gas ${fuzzCase.gas}, to ${fuzzCase.to}`);
  for (const { address, code } of fuzzCase.accounts) {
    console.log(`  ${address} ${hexDigits(assemble(code))}`);
  }
  if (fuzzCase.to === null) console.log(`  init code ${hexDigits(assemble(fuzzCase.initCode))}`);
  console.log(`${values.engine} then ${values.oracle}: ${differenceAt(fuzzCase, engine, oracle, options)?.difference}`);
}
