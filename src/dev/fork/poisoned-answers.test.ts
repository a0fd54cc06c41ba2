/** Two hundred wrong answers to each method that a fork reads: an error of the remote chain, or a result of the method's form; with proofs, the right one. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createRandom, poison } from "../../../test/support/poison.ts";
import { answersOf, modelRemoteChain, serveBatches } from "../../../test/support/remote-chain.ts";
import { NodeError } from "../../base/errors.ts";
import type { GenesisAccount } from "../../base/params/genesis-account.ts";
import { type Address, addressFromWord } from "../../base/primitives/address.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { toQuantity } from "../../base/primitives/quantity.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { fetchRemoteCalls } from "./fetch-remote-calls.ts";
import { planProvenReads } from "./proven-reads.ts";
import type { RemoteCall } from "./remote-calls.ts";
import { type PlanReads, planPlainReads } from "./remote-results.ts";

const POISONS = 200;
const CONTRACT = addressFromWord(1n);
const SLOTS = [0n, 1n, 2n, 999n].map(hashFromBigint);

/** Enough accounts and slots for proofs of several nodes. */
const ALLOC = new Map<Address, GenesisAccount>(
  Array.from({ length: 200 }, (_, i) => {
    const account = { balance: BigInt(i) * 10n ** 18n, nonce: BigInt(i) };
    const storage = new Map(Array.from({ length: 60 }, (_, slot) => [hashFromBigint(BigInt(slot)), BigInt(slot + 1)]));
    const isContract = i === 0;
    return [
      addressFromWord(BigInt(i + 1)),
      isContract ? { ...account, nonce: 1n, code: new Uint8Array(50).fill(1), storage } : account,
    ];
  }),
);
const MODEL = modelRemoteChain(ALLOC);
const BLOCK = toQuantity(MODEL.header.number);

const QUANTITY = /^0x(?:0|[1-9a-f][0-9a-f]{0,63})$/;
/** Form of the results of what is not proven. */
const FORMS: Readonly<Record<string, (result: unknown) => boolean>> = {
  eth_chainId: (result) => QUANTITY.test(String(result)),
  eth_getBalance: (result) => QUANTITY.test(String(result)),
  eth_getTransactionCount: (result) => /^0x(?:0|[1-9a-f][0-9a-f]{0,15})$/.test(String(result)),
  eth_getCode: (result) => /^0x(?:[0-9a-f]{2})*$/.test(String(result)),
  eth_getStorageAt: (result) => /^0x[0-9a-f]{64}$/.test(String(result)),
  eth_getBlockByNumber: (result) => result === null || (result as { number: string }).number === BLOCK,
  eth_createAccessList: (result) =>
    (result as { accessList: { address: string }[] }).accessList.every(({ address }) =>
      /^0x[0-9a-fA-F]{40}$/.test(address),
    ),
};

const STATE_READS: readonly RemoteCall[] = [
  { method: "eth_getBalance", params: [CONTRACT, BLOCK] },
  { method: "eth_getTransactionCount", params: [CONTRACT, BLOCK] },
  { method: "eth_getCode", params: [CONTRACT, BLOCK] },
  ...SLOTS.map((slot) => ({ method: "eth_getStorageAt", params: [CONTRACT, slot, BLOCK] })),
  // Does not exist.
  { method: "eth_getBalance", params: [addressFromWord(10n ** 9n), BLOCK] },
];
const OTHERS: readonly RemoteCall[] = [
  { method: "eth_chainId", params: [] },
  { method: "eth_getBlockByNumber", params: [BLOCK, false] },
  { method: "eth_createAccessList", params: [{ to: CONTRACT }, BLOCK] },
];

let text: string | undefined;
let server: Awaited<ReturnType<typeof serveBatches>>;
let sent: object[] = [];
before(async () => {
  server = await serveBatches((calls, response) => {
    sent = answersOf(MODEL, calls);
    response.writeHead(200, { connection: "close" }).end(text ?? JSON.stringify(sent));
  });
});
after(() => server.close());

async function ask(reads: readonly RemoteCall[], planReads: PlanReads) {
  return fetchRemoteCalls({ urls: [server.url], planReads }, { now: fatalTimers.now, sleep: async () => {} })(reads);
}

/** Results of `reads` without poison, and what the server sent for them. */
async function askHonest(reads: readonly RemoteCall[], planReads: PlanReads) {
  text = undefined;
  const right = await ask(reads, planReads);
  return { right, answers: sent };
}

/** Results of `reads` with the n-th poison of their `answers`; undefined where they are an error. */
async function askPoisoned(reads: readonly RemoteCall[], planReads: PlanReads, answers: object[], n: number) {
  text = poison(answers, createRandom(n));
  try {
    return await ask(reads, planReads);
  } catch (error) {
    assert.ok(error instanceof NodeError, String((error as Error).stack));
    assert.match(error.code, /^FORK_|^EXECUTION_REVERTED$/);
    assert.ok(!error.message.includes("SECRET"));
    return undefined;
  }
}

test("a read that is answered at length is an error before the answer has been read", async (context) => {
  let written = 0;
  const flood = await serveBatches((_, response) => {
    const chunk = Buffer.alloc(1 << 16, "7");
    const write = () => {
      while (!response.destroyed && written < 1 << 30) {
        written += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", write);
      }
      response.end();
    };
    write();
  });
  context.after(() => flood.close());
  for (const read of [STATE_READS[0]!, STATE_READS[2]!, OTHERS[1]!, { method: "m", params: [] }]) {
    written = 0;
    await assert.rejects(fetchRemoteCalls({ urls: [flood.url] }, fatalTimers)([read]), {
      code: "FORK_REMOTE_FAILED",
    });
    // What sockets hold on the way comes on top of the limit.
    assert.ok(written < 100 << 20, `${read.method}: ${written}`);
  }
});

describe("fetchRemoteCalls, poisoned", () => {
  for (const read of [...STATE_READS.slice(0, 4), ...OTHERS]) {
    test(`${read.method}: an error, or a result of its form`, async () => {
      const { answers } = await askHonest([read], planPlainReads);
      let errors = 0;
      for (let n = 0; n < POISONS; n++) {
        const results = await askPoisoned([read], planPlainReads, answers, n);
        if (results === undefined) errors++;
        else assert.ok(FORMS[read.method]!(results[0]), `poison ${n}`);
      }
      assert.ok(errors > POISONS / 4, `${errors} errors`);
    });
  }

  const proven = planProvenReads(MODEL.header.stateRoot, BLOCK);
  for (const reads of [...STATE_READS.map((read) => [read]), STATE_READS]) {
    test(`${reads.map(({ method }) => method).join()} with proofs: an error, or the right result`, async () => {
      const { right, answers } = await askHonest(reads, proven);
      assert.deepEqual(
        right,
        reads.map((read) => MODEL.resultOf(read)),
      );
      let errors = 0;
      for (let n = 0; n < POISONS; n++) {
        const results = await askPoisoned(reads, proven, answers, n);
        if (results === undefined) errors++;
        else assert.deepEqual(results, right, `poison ${n}`);
      }
      assert.ok(errors > POISONS / 4, `${errors} errors`);
    });
  }
});
