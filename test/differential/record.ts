/** `GETH=… node --import tsx test/differential/record.ts`: records anew what geth answers; see recorded.test.ts. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChainUnderTest, chainsUnderTest } from "./chains.ts";
import { peerAt } from "./compare.ts";
import { recordedCorpusOf } from "./corpus/corpus.ts";
import { readChain } from "./corpus/request.ts";
import { gethVersion, startGeth } from "./geth.ts";
import { type RecordedCase, writeRecording } from "./recording.ts";
import type { ChainFiles } from "./scenario.ts";

/** Longer answers are compared with a running geth only: `npm run conformance -- geth`. */
const ANSWER_CHARS_MAX = 20_000;

const version = gethVersion();
if (version === undefined) throw new Error("no geth on the PATH (GETH names another place)");
const dir = mkdtempSync(join(tmpdir(), "evmint-record-"));
try {
  mkdirSync(new URL("recordings", import.meta.url), { recursive: true });
  for (const chain of chainsUnderTest(dir)) {
    const files = await chain.files();
    if (files === undefined) throw new Error(`no fixtures of the ${chain.name} chain`);
    const cases = await record(chain, files);
    const own = chain.name === "scenario" && { chain: textOf(files) };
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
    const cases: RecordedCase[] = [];
    let skipped = 0;
    for (const each of await recordedCorpusOf(chain.name, geth.url, facts)) {
      const answer = await ask(each);
      if (JSON.stringify(answer).length > ANSWER_CHARS_MAX) skipped++;
      else cases.push({ ...each, answer });
    }
    console.log(
      `${chain.name}: left out ${skipped} answers of more than ${ANSWER_CHARS_MAX} characters`,
    );
    return cases;
  } finally {
    await geth.stop();
  }
}

function textOf({ genesisFile, chainFile }: ChainFiles) {
  return {
    genesis: readFileSync(genesisFile, "utf8"),
    blocks: readFileSync(chainFile).toString("hex"),
  };
}
