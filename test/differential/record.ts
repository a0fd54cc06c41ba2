/** `GETH=… node --import tsx test/differential/record.ts [CHAIN …]`: records anew what geth answers; see recorded.test.ts. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChainUnderTest, chainsUnderTest } from "./chains.ts";
import { peerAt } from "./compare.ts";
import { recordedCorpusOf } from "./corpus/corpus.ts";
import { readChain } from "./corpus/request.ts";
import { gethVersion, send, startGeth } from "./geth.ts";
import { type RecordedCase, writeRecording } from "./recording.ts";
import type { ChainFiles } from "./scenario.ts";

/** Longer answers are compared with a running geth only: `npm run conformance -- geth`. */
const ANSWER_CHARS_MAX = 20_000;

const FREEZER_SECONDS_MAX = 75;

const version = gethVersion();
if (version === undefined) throw new Error("no geth on the PATH (GETH names another place)");
const dir = mkdtempSync(join(tmpdir(), "evmint-record-"));
try {
  mkdirSync(new URL("recordings", import.meta.url), { recursive: true });
  const only = process.argv.slice(2);
  for (const chain of chainsUnderTest(dir)) {
    if (only.length > 0 && !only.includes(chain.name)) continue;
    const files = await chain.files();
    if (files === undefined) throw new Error(`no fixtures of the ${chain.name} chain`);
    const cases = await record(chain, files);
    const own = chain.name !== "forks" && { chain: textOf(files) };
    writeRecording(chain.name, { version, ...own, cases });
    console.log(`${chain.name}: ${cases.length} answers of ${version}`);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}

async function record(chain: ChainUnderTest, files: ChainFiles): Promise<readonly RecordedCase[]> {
  const geth = await startGeth(files);
  try {
    const facts = await readChain(geth.url, chain.sender);
    const ask = peerAt(geth.url);
    const isFrozen = await isFrozenInTime(geth.url, facts.head);
    const cases: RecordedCase[] = [];
    let skipped = 0;
    for (const each of await recordedCorpusOf(chain.name, geth.url, facts)) {
      if (each.method === "debug_dbAncient" && !isFrozen) continue;
      const answer = await ask(each);
      if (JSON.stringify(answer).length > ANSWER_CHARS_MAX) skipped++;
      else cases.push({ ...each, answer });
    }
    console.log(`${chain.name}: left out ${skipped} answers of more than ${ANSWER_CHARS_MAX} characters`);
    return cases;
  } finally {
    await geth.stop();
  }
}

/** Whether geth moves the chain to its append-only files, which it looks after once a minute. */
async function isFrozenInTime(url: string, head: number): Promise<boolean> {
  for (let tries = 0; tries < FREEZER_SECONDS_MAX; tries++) {
    const { result } = await send(url, "debug_dbAncients", []);
    if (Number(result) >= head) return true;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  return false;
}

function textOf({ genesisFile, chainFile }: ChainFiles) {
  return {
    genesis: readFileSync(genesisFile, "utf8"),
    blocks: readFileSync(chainFile).toString("hex"),
  };
}
