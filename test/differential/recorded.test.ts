import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { skipWithout } from "../support/fixtures.ts";
import { IS_NIGHTLY } from "../support/nightly.ts";
import { startRecordedChain } from "../support/recorded-chain.ts";
import { type ChainName, forksChain } from "./chains.ts";
import { compare, peerAt } from "./compare.ts";
import { type Recording, readRecording, writeChain } from "./recording.ts";
import type { ChainFiles } from "./scenario.ts";

/**
 * `recordings/` holds what geth 1.17.10 answered; record.ts makes it anew. Differences need a reason in known-differences.ts. The corpus was drawn at random from
 * methods, tracers and transactions: a change asks each sixth case, the nightly run all.
 */
const EACH = IS_NIGHTLY ? 1 : 6;

const forks = forksChain();

test("every answer on a chain of all forks equals geth's", {
  skip: skipWithout(forks?.chainFile, "rpc-compat"),
}, async () => {
  await assertEqualAnswers("forks", () => forks!);
});

test("every answer on a chain that does all a transaction can do equals geth's", async () => {
  await assertEqualAnswers("scenario", writeChain);
});

test("every answer on such a chain under the rules of Amsterdam equals geth's", async () => {
  await assertEqualAnswers("amsterdam", writeChain);
});

test("every answer in a time when a later fork has begun equals geth's", async () => {
  await assertEqualAnswers("upgrades", writeChain);
});

async function assertEqualAnswers(
  name: ChainName,
  filesOf: (recording: Recording, dir: string) => ChainFiles,
): Promise<void> {
  const recording = readRecording(name);
  const dir = mkdtempSync(join(tmpdir(), "evmint-recorded-answers-"));
  try {
    const own = await startRecordedChain(filesOf(recording, dir));
    try {
      assert.ok(recording.cases.length > 1000);
      const cases = recording.cases.filter((_case, index) => index % EACH === 0);
      const peer = peerAt(own.url, own.authorization);
      const { equal, known, differences } = await compare(peer, async ({ answer }) => answer, cases);
      assert.deepEqual(
        differences.map(({ group, sample }) => `${group}\n${sample}`),
        [],
      );
      const listed = [...known.values()].reduce((sum, count) => sum + count, 0);
      assert.equal(equal + listed, cases.length);
    } finally {
      await own.stop();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
