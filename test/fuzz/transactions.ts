/** `node --import tsx test/fuzz/transactions.ts [--seed N] [--count N] …`: random transactions, on which our rules and @ethereumjs/vm have to agree. */
import { parseArgs } from "node:util";
import type { Hardfork } from "../../src/base/params/hardforks.ts";
import { createEngine } from "../conformance/engines.ts";
import { createTransactionOracle } from "../oracle/ethereumjs/transaction.ts";
import { generateTransactionCase } from "./generate-transaction.ts";
import { shrink } from "./shrink.ts";
import { compareTransactions, transactionDifference } from "./transaction-compare.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "1000" },
    /** Every transaction under the rules of this fork instead of a random one. */
    fork: { type: "string" },
    /** Stop after so many findings. */
    stop: { type: "string", default: "5" },
  },
});
const evm = await createEngine();
const oracle = createTransactionOracle();
const first = Number(values.seed);
const end = first + Number(values.count);
const rejections = new Map<string, number>();
let applied = 0;
const begun = performance.now();
let executions = 0;
let findings = 0;
let seed = first;
for (; seed < end && findings < Number(values.stop); seed++) {
  const fuzzCase = generateTransactionCase(seed, values.fork as Hardfork | undefined);
  const compared = compareTransactions(fuzzCase, evm, oracle);
  executions += compared.executions;
  applied += compared.executions - compared.rejections.length;
  for (const rule of compared.rejections) rejections.set(rule, (rejections.get(rule) ?? 0) + 1);
  const { finding } = compared;
  if (!finding) continue;
  findings++;
  const fails = (candidate: typeof fuzzCase) => transactionDifference(candidate, evm, oracle) !== undefined;
  const smallest = fails(finding.fuzzCase) ? shrink(finding.fuzzCase, fails) : finding.fuzzCase;
  console.log(`seed ${seed}, ours then the oracle: ${finding.difference}`);
  console.log(`${transactionDifference(smallest, evm, oracle)}\n${JSON.stringify(smallest)}`);
}
console.log(`${applied} applied`);
const seconds = (performance.now() - begun) / 1000;
for (const [rule, count] of [...rejections].sort(([, a], [, b]) => b - a)) {
  console.log(`${count} rejected: ${rule}`);
}
console.log(
  `${findings} differences in ${executions} executions of ${seed - first} transactions, seeds ${first} to ${seed - 1}, ` +
    `${Math.round(executions / seconds)} executions a second`,
);
process.exitCode = findings === 0 ? 0 : 1;
