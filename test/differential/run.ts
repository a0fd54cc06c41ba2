import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Suite } from "../conformance/suite.ts";
import { startRecordedChain } from "../support/recorded-chain.ts";
import { chainsUnderTest } from "./chains.ts";
import { compare, type Difference, type Peer, peerAt } from "./compare.ts";
import { corpusOf } from "./corpus/corpus.ts";
import { readChain } from "./corpus/request.ts";
import { gethVersion, startGeth } from "./geth.ts";
import type { ChainFiles } from "./scenario.ts";

const USAGE =
  "usage: geth [--chain scenario|amsterdam|upgrades|forks] [--only WORD] [--fuzz COUNT] [--every N] [--verbose]";

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
    for (const chain of chainsUnderTest(dir)) {
      if (!chain.name.includes(values.chain)) continue;
      const files = await chain.files();
      if (files === undefined) {
        console.log(`left out: the ${chain.name} chain, no fixtures`);
        continue;
      }
      await withBoth(files, async (own, geth, gethUrl) => {
        const facts = await readChain(gethUrl, chain.sender);
        const cases = await corpusOf(chain.name, gethUrl, facts, Number(values.fuzz));
        const every = Number(values.every);
        const chosen = cases
          .filter(({ method, name }) => `${method} ${name}`.includes(values.only))
          .filter((_, i) => i % every === 0);
        const result = await compare(own, geth, chosen);
        passed += result.equal;
        failed += result.differences.length;
        for (const [reason, count] of result.known) known.set(reason, (known.get(reason) ?? 0) + count);
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

async function withBoth(
  files: ChainFiles,
  use: (own: Peer, geth: Peer, gethUrl: string) => Promise<void>,
): Promise<void> {
  const geth = await startGeth(files);
  try {
    const own = await startRecordedChain(files);
    try {
      await use(peerAt(own.url, own.authorization), peerAt(geth.url), geth.url);
    } finally {
      await own.stop();
    }
  } finally {
    await geth.stop();
  }
}

if (process.argv.includes("--help")) console.log(USAGE);
