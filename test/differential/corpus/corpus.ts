import type { ChainName } from "../chains.ts";
import { argumentCases, overrideCases, traceOptionCases } from "./arguments.ts";
import { bundlerCases } from "./bundler.ts";
import { creationCases, forkCases, gasDependentCases, programCases, programOverrides } from "./calls.ts";
import { fuzzedCases } from "./fuzzed.ts";
import { inspectionCases } from "./inspection.ts";
import { minedCases } from "./mined.ts";
import { rawTransactionCases } from "./raw-transactions.ts";
import { readCases } from "./reads.ts";
import type { ChainFacts, DifferentialCase } from "./request.ts";
import { emptyAuthorizationCases, transferCases } from "./transfers.ts";
import { upgradeCases } from "./upgrades.ts";

/** Every case for a chain. @param url of a node that holds the chain */
export async function corpusOf(
  name: ChainName,
  url: string,
  facts: ChainFacts,
  fuzz: number,
): Promise<readonly DifferentialCase[]> {
  if (name === "upgrades") return [...upgradeCases(facts)];
  const everywhere = [
    ...readCases(facts),
    ...minedCases(facts),
    ...inspectionCases(facts),
    ...traceOptionCases(facts),
    ...argumentCases(facts),
    ...overrideCases(facts),
    ...creationCases(facts, "latest"),
    ...gasDependentCases(facts, "latest"),
    ...(await rawTransactionCases(url, facts)),
  ];
  if (name !== "forks") {
    const fuzzed = fuzzedCases({ from: 1, count: fuzz }, "latest");
    const programs = programCases(facts, "latest", undefined);
    const own = [bundlerCases, transferCases, emptyAuthorizationCases];
    return [...everywhere, ...own.flatMap((cases) => [...cases(facts)]), ...programs, ...fuzzed];
  }
  // Before Shanghai, between London and the merge, and before London.
  const old = ["0x24", "0x1c", "0x19", "0x13"].flatMap((block) => [...programCases(facts, block, programOverrides())]);
  return [...everywhere, ...forkCases(facts), ...old.filter((_, i) => i % 7 === 0)];
}

/** The cases whose answers are committed: of every kind as many as a test can run in seconds. */
export async function recordedCorpusOf(
  name: ChainName,
  url: string,
  facts: ChainFacts,
): Promise<readonly DifferentialCase[]> {
  if (name === "forks") {
    return [
      ...everyNth(17, minedCases(facts)),
      ...everyNth(7, inspectionCases(facts)),
      ...everyNth(23, forkCases(facts)),
    ];
  }
  if (name === "upgrades") return everyNth(11, upgradeCases(facts));
  // The rules of a fork show in transactions, calls and their traces.
  if (name === "amsterdam") {
    return [
      ...everyNth(9, minedCases(facts)),
      ...everyNth(4, inspectionCases(facts)),
      ...everyNth(29, programCases(facts, "latest", undefined)),
      ...everyNth(29, creationCases(facts, "latest")),
      ...transferCases(facts),
    ];
  }
  // A loop takes longer than any limit of time on a slow machine.
  const isQuick = ({ name }: DifferentialCase) => !name.startsWith("creation 0x5b600056");
  const isTrace = ({ method }: DifferentialCase) => method === "debug_traceCall";
  return [
    ...everyNth(7, minedCases(facts)),
    ...inspectionCases(facts),
    ...everyNth(19, [...programCases(facts, "latest", undefined)].filter(isTrace)),
    ...everyNth(7, [...creationCases(facts, "latest")].filter(isTrace).filter(isQuick)),
    ...bundlerCases(facts),
    ...transferCases(facts),
    ...emptyAuthorizationCases(facts),
    ...everyNth(3, traceOptionCases(facts)),
    ...everyNth(23, argumentCases(facts)),
    ...everyNth(23, overrideCases(facts)),
    ...everyNth(23, readCases(facts)),
    ...everyNth(47, await rawTransactionCases(url, facts)),
  ];
}

function everyNth(n: number, cases: Iterable<DifferentialCase>): readonly DifferentialCase[] {
  return [...cases].filter((_, i) => i % n === 0);
}
