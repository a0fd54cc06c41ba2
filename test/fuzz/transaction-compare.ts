import type { Evm } from "../../src/evm/machine/evm.ts";
import type { TransactionOracle } from "../oracle/ethereumjs/transaction.ts";
import { difference, type Outcome } from "./run.ts";
import type { TransactionCase } from "./transaction-case.ts";
import { runOnOracle, runTransaction } from "./transaction-run.ts";
import { variantsOf } from "./transaction-variants.ts";

export type TransactionFinding = {
  readonly fuzzCase: TransactionCase;
  readonly difference: string;
};

export type TransactionComparison = {
  /** Transactions both engines applied or rejected; up to and with the one in which they differ. */
  readonly executions: number;
  /** The rules by which they rejected some of them. */
  readonly rejections: readonly string[];
  readonly finding?: TransactionFinding;
};

/** Applies `fuzzCase` and its variants on both sides, up to the first difference. */
export function compareTransactions(
  fuzzCase: TransactionCase,
  evm: Evm,
  oracle: TransactionOracle,
): TransactionComparison {
  const rejections: string[] = [];
  const base = runTransaction(fuzzCase, evm);
  let executions = 0;
  for (const variant of [fuzzCase, ...variantsOf(fuzzCase, base)]) {
    executions++;
    const ours = variant === fuzzCase ? base : runTransaction(variant, evm);
    const theirs = runOnOracle(variant, oracle);
    if (ours.facts["rule"]) rejections.push(ours.facts["rule"]);
    // A variant of a good transaction breaks one rule at most; others may break two, and either side may name either.
    const isGood = base.facts["rejected"] === "no";
    const text = difference(isGood ? ours : unnamed(ours), isGood ? theirs : unnamed(theirs));
    if (text === undefined) continue;
    return { executions, rejections, finding: { fuzzCase: variant, difference: text } };
  }
  return { executions, rejections };
}

/** The difference in this one transaction, whatever rules are named. */
export function transactionDifference(
  fuzzCase: TransactionCase,
  evm: Evm,
  oracle: TransactionOracle,
): string | undefined {
  return difference(unnamed(runTransaction(fuzzCase, evm)), unnamed(runOnOracle(fuzzCase, oracle)));
}

function unnamed(outcome: Outcome): Outcome {
  return { ...outcome, facts: { ...outcome.facts, rule: "" } };
}
