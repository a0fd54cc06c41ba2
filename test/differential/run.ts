import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Suite } from "../conformance/suite.ts";
import { fixture } from "../support/fixtures.ts";
import { startRecordedChain } from "../support/recorded-chain.ts";
import { compare, type Difference } from "./compare.ts";
import { argumentCases, overrideCases, traceOptionCases } from "./corpus/arguments.ts";
import { creationCases, programCases, programOverrides } from "./corpus/calls.ts";
import { fuzzedCases } from "./corpus/fuzzed.ts";
import { minedCases } from "./corpus/mined.ts";
import { rawTransactionCases } from "./corpus/raw-transactions.ts";
import { readCases } from "./corpus/reads.ts";
import { type ChainFacts, type DifferentialCase, readChain } from "./corpus/request.ts";
import { gethVersion, startGeth } from "./geth.ts";
import { type ChainFiles, writeScenarioChain } from "./scenario.ts";

const USAGE =
  "usage: geth [--chain scenario|forks] [--only WORD] [--fuzz COUNT] [--every N] [--verbose]";

/**
 * The same requests to this node and to geth, both on the same chain. Answers must be equal as JSON, texts of errors too, unless
 * `known-differences.ts` gives a reason.
 */
export const run: Suite = async (args) => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      chain: { type: "string", default: "" },
      only: { type: "string", default: "" },
      fuzz: { type: "string", default: "200" },
      every: { type: "string", default: "1" },
      verbose: { type: "boolean", default: false },
    },
  });
  const version = gethVersion();
  if (version === undefined) {
    console.log("left out: no geth on the PATH (GETH names another place)");
    return { passed: 0, failed: 0 };
  }
  console.log(`against ${version}`);
  const dir = mkdtempSync(join(tmpdir(), "evmint-differential-"));
  let passed = 0;
  let failed = 0;
  const known = new Map<string, number>();
  const byGroup = new Map<string, Difference[]>();
  try {
    for (const chain of chains(dir)) {
      if (!chain.name.includes(values.chain)) continue;
      const files = await chain.files();
      if (files === undefined) {
        console.log(`left out: the ${chain.name} chain, no fixtures`);
        continue;
      }
      await withBoth(files, async (own, geth) => {
        const facts = await readChain(geth, chain.sender);
        const cases = await corpusOf(chain.name, geth, facts, Number(values.fuzz));
        const every = Number(values.every);
        const chosen = cases
          .filter(({ method, name }) => `${method} ${name}`.includes(values.only))
          .filter((_, i) => i % every === 0);
        const result = await compare(own, geth, chosen);
        passed += result.equal;
        failed += result.differences.length;
        for (const [reason, count] of result.known)
          known.set(reason, (known.get(reason) ?? 0) + count);
        for (const difference of result.differences) {
          const list = byGroup.get(difference.group) ?? [];
          list.push(difference);
          byGroup.set(difference.group, list);
        }
      });
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  for (const [reason, count] of known) console.log(`listed: ${count} × ${reason}`);
  for (const [group, list] of [...byGroup].sort(([, a], [, b]) => b.length - a.length)) {
    console.log(`\n${list.length} × ${group}`);
    for (const { sample } of values.verbose ? list : list.slice(0, 2)) console.log(`  ${sample}`);
  }
  return { passed, failed };
};

type Chain = {
  readonly name: "scenario" | "forks";
  readonly sender: string;
  files(): Promise<ChainFiles | undefined>;
};

function chains(dir: string): readonly Chain[] {
  return [
    {
      name: "scenario",
      sender: "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
      files: () => writeScenarioChain(dir),
    },
    {
      name: "forks",
      sender: "0x7435ed30a8b4aeb0877cef0c6e8cffe834eb865f",
      async files() {
        const genesisFile = fixture("rpc-compat", "genesis.json");
        const chainFile = fixture("rpc-compat", "chain.rlp");
        return genesisFile && chainFile ? { genesisFile, chainFile } : undefined;
      },
    },
  ];
}

async function corpusOf(
  name: Chain["name"],
  url: string,
  facts: ChainFacts,
  fuzz: number,
): Promise<readonly DifferentialCase[]> {
  const everywhere = [
    ...readCases(facts),
    ...minedCases(facts),
    ...traceOptionCases(facts),
    ...argumentCases(facts),
    ...overrideCases(facts),
    ...creationCases(facts, "latest"),
    ...(await rawTransactionCases(url, facts)),
  ];
  if (name === "scenario") {
    const fuzzed = fuzzedCases({ from: 1, count: fuzz }, "latest");
    return [...everywhere, ...programCases(facts, "latest", undefined), ...fuzzed];
  }
  // Before Shanghai, between London and the merge, and before London.
  const old = ["0x24", "0x1c", "0x19", "0x13"].flatMap((block) => [
    ...programCases(facts, block, programOverrides()),
  ]);
  return [...everywhere, ...old.filter((_, i) => i % 7 === 0)];
}

async function withBoth(
  files: ChainFiles,
  use: (own: string, geth: string) => Promise<void>,
): Promise<void> {
  const geth = await startGeth(files);
  try {
    const own = await startRecordedChain(files);
    try {
      await use(own.url, geth.url);
    } finally {
      await own.stop();
    }
  } finally {
    await geth.stop();
  }
}

if (process.argv.includes("--help")) console.log(USAGE);
