/** `GETH=… node --import tsx test/sessions/record.ts`: records the sessions anew; see sessions.test.ts. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SCENARIO_SENDER } from "../differential/chains.ts";
import { readChain } from "../differential/corpus/request.ts";
import { firstDifference } from "../differential/difference.ts";
import { gethVersion, startGeth } from "../differential/geth.ts";
import { readRecording, writeChain } from "../differential/recording.ts";
import { startRecordedChain } from "../support/recorded-chain.ts";
import { blockscoutSession, otterscanSession, type SessionBatch } from "./requests.ts";
import { SESSIONS, type SessionEntry, sendBatch, sessionFacts, writeSession } from "./session-file.ts";

/** Namespaces that geth does not have. */
const NOT_OF_GETH = /^(?:ots|erigon|trace)_/;

const dir = mkdtempSync(join(tmpdir(), "evmint-sessions-"));
try {
  mkdirSync(new URL("recordings", import.meta.url), { recursive: true });
  const files = writeChain(readRecording("scenario"), dir);
  const [own, geth] = [await startRecordedChain(files), await startGeth(files)];
  try {
    const facts = sessionFacts(await readChain(own.url, SCENARIO_SENDER));
    for (const name of SESSIONS) {
      const batches = name === "otterscan" ? otterscanSession(facts) : blockscoutSession(facts);
      const session: SessionEntry[][] = [];
      for (const batch of batches) session.push(await answered(batch, own.url, geth.url));
      writeSession(name, session);
      const entries = session.flat();
      const ofGeth = entries.filter(({ by }) => by === "geth").length;
      console.log(`${name}: ${entries.length} answers, ${ofGeth} of ${gethVersion()}`);
    }
  } finally {
    await Promise.all([own.stop(), geth.stop()]);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}

async function answered(batch: SessionBatch, own: string, geth: string): Promise<SessionEntry[]> {
  const [ours, theirs] = [await sendBatch(own, batch), await sendBatch(geth, batch)];
  return batch.map((request, i) => {
    const [answer, other] = [ours[i]!, theirs[i]!];
    if (NOT_OF_GETH.test(request.method)) return { ...request, by: "evmint", answer };
    const at = firstDifference(answer, other);
    if (at === undefined) return { ...request, by: "geth", answer };
    console.log(`${request.method} ${JSON.stringify(request.params).slice(0, 120)}: differs at ${at}`);
    return { ...request, by: "evmint", answer };
  });
}
