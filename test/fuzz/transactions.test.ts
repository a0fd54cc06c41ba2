import assert from "node:assert/strict";
import { test } from "node:test";
import { HARDFORKS, type Hardfork } from "../../src/base/params/hardforks.ts";
import { createEngine } from "../conformance/engines.ts";
import { createTransactionOracle, type TransactionOracle } from "../oracle/ethereumjs/transaction.ts";
import { generateTransactionCase } from "./generate-transaction.ts";
import { compareTransactions } from "./transaction-compare.ts";

/** Another seed than the one a longer run begins with. */
const SEED = 500;
const TRANSACTIONS = 12;

const evm = await createEngine();
const oracle = createTransactionOracle();

test(`our transaction rules and the oracle's agree on ${TRANSACTIONS} random transactions and their borders`, () => {
  for (let seed = SEED; seed < SEED + TRANSACTIONS; seed++) {
    const { finding } = compareTransactions(generateTransactionCase(seed), evm, oracle);
    assert.equal(finding?.difference, undefined, `seed ${seed}`);
  }
});

/** By what the first difference shows that only `fork` and not the one before it has the rule. */
const RULES: readonly (readonly [fork: Hardfork, fact: string])[] = [
  ["istanbul", "gasUsed"],
  ["london", "state"],
  ["prague", "gasUsed"],
];
for (const [fork, fact] of RULES) {
  test(`rules without ${fork} are found out by a random transaction`, () => {
    const before = HARDFORKS[HARDFORKS.indexOf(fork) - 1]!;
    const outdated: TransactionOracle = {
      apply: (raw, alloc, block) => oracle.apply(raw, alloc, { ...block, hardfork: before }),
    };
    const facts = new Set<string>();
    for (let seed = 1; seed <= 100 && !facts.has(fact); seed++) {
      const fuzzCase = generateTransactionCase(seed, fork);
      const { finding } = compareTransactions(fuzzCase, evm, outdated);
      if (finding) facts.add(finding.difference.split(":")[0]!);
    }
    assert.ok(facts.has(fact), [...facts].join(" "));
  });
}
