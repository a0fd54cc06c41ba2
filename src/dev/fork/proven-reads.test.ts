import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { blockJson, modelRemoteChain } from "../../../test/support/remote-chain.ts";
import type { GenesisAccount } from "../../base/params/genesis-account.ts";
import { type Address, addressFromWord } from "../../base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../../base/primitives/hash.ts";
import { toQuantity } from "../../base/primitives/quantity.ts";
import type { Header } from "../../base/types/header.ts";
import { headerHash } from "../../base/types/header-codec.ts";
import { planProvenReads } from "./proven-reads.ts";
import type { RemoteCall } from "./remote-calls.ts";
import { accountReads, RemoteState } from "./remote-state.ts";

const NO_CACHE = { get: () => undefined };
const word = (value: number) => hashFromBigint(BigInt(value));
const accountOf = (n: number): Address => addressFromWord(BigInt(n));

function modelOf(unit: number) {
  const storage = new Map(Array.from({ length: 40 }, (_, i) => [word(i), BigInt(i * unit + 1)]));
  const accounts = Array.from({ length: 60 }, (_, n): [Address, GenesisAccount] => [
    accountOf(n),
    { balance: BigInt(n * unit), nonce: BigInt(n), code: new Uint8Array(n).fill(unit), storage },
  ]);
  return modelRemoteChain(new Map(accounts));
}

const MODEL = modelOf(1);
const BLOCK = toQuantity(MODEL.header.number);
const plan = planProvenReads(MODEL.header.stateRoot, BLOCK);
const slotRead = (address: Address, slot: Hash): RemoteCall => ({
  method: "eth_getStorageAt",
  params: [address, slot, BLOCK],
});

/** What `model` shows of `reads`. */
function proven(reads: readonly RemoteCall[], model = MODEL) {
  const { calls, resultsOf } = plan(reads);
  return resultsOf(calls.map((call) => model.resultOf(call)));
}

describe("planProvenReads", () => {
  test("accounts and slots that exist and that do not have their values, in the order of the reads", () => {
    const reads = [3, 59, 1_000].flatMap((n) => [
      slotRead(accountOf(n), word(7)),
      ...accountReads(accountOf(n), BLOCK),
      slotRead(accountOf(n), word(9_999)),
      slotRead(accountOf(n), word(7)),
    ]);
    assert.deepEqual(
      proven(reads),
      reads.map((read) => MODEL.resultOf(read)),
    );
  });

  test("takes fewer calls than the reads have: two for an account, one for its slots", () => {
    const accounts = Array.from({ length: 33 }, (_, n) => accountReads(accountOf(n), BLOCK)).flat();
    assert.equal(plan(accounts).calls.length, 66);
    const slots = Array.from({ length: 64 }, (_, i) => slotRead(accountOf(1), word(i)));
    assert.equal(plan(slots).calls.length, 1);
    assert.equal(plan([...accounts, ...slots]).calls.length, 66);
    // Of another block nothing is proven.
    const older = [{ method: "eth_getBalance", params: [accountOf(1), "0x1"] }];
    assert.deepEqual(plan(older).calls, older);
  });

  test("proofs of another state, and code of another hash, are errors", () => {
    const other = modelOf(2);
    const reads = accountReads(accountOf(5), BLOCK);
    for (const read of [...reads, slotRead(accountOf(5), word(1))]) {
      assert.throws(() => proven([read], other), { code: "FORK_REMOTE_PROOF" });
    }
    const { calls, resultsOf } = plan(reads);
    const answers = calls.map((call) => (call.method === "eth_getCode" ? other : MODEL).resultOf(call));
    assert.throws(() => resultsOf(answers), { code: "FORK_REMOTE_PROOF" });
  });

  test("a proof of another account or slot is an error", () => {
    const { resultsOf } = plan([slotRead(accountOf(5), word(1))]);
    for (const params of [
      [accountOf(6), [word(1)], BLOCK],
      [accountOf(5), [word(2)], BLOCK],
    ]) {
      const answer = MODEL.resultOf({ method: "eth_getProof", params });
      assert.throws(() => resultsOf([answer]), { code: "FORK_REMOTE_PROOF" });
    }
  });

  test("nodes in another order and more than are needed change nothing", () => {
    const reads = [slotRead(accountOf(5), word(1))];
    const { calls, resultsOf } = plan(reads);
    const answer = MODEL.resultOf(calls[0]!) as { accountProof: string[] };
    const accountProof = [...answer.accountProof, "0xc0", answer.accountProof[0]!].reverse();
    assert.deepEqual(resultsOf([{ ...answer, accountProof }]), [MODEL.resultOf(reads[0]!)]);
  });
});

describe("RemoteState.hashAt", () => {
  /** Headers 90 to 100, each the parent of the next. */
  const chain = new Map<number, Header>();
  for (let number = 90; number <= 100; number++) {
    const parent = chain.get(number - 1);
    const parentHash = parent === undefined ? word(1) : headerHash(parent);
    chain.set(number, { ...MODEL.header, number, parentHash });
  }
  const jsonOf = (number: number) => blockJson(chain.get(number)!, headerHash(chain.get(number)!));

  function stateOf(answer: (number: number) => unknown) {
    const asked: number[] = [];
    const call = (calls: readonly RemoteCall[]) =>
      calls.map(({ params }) => {
        const number = Number(params[0]);
        asked.push(number);
        return answer(number);
      });
    const { parentHash } = chain.get(100)!;
    const state = new RemoteState({ block: 100, bytesMax: 1 << 20, parentHash }, { call, cache: NO_CACHE });
    return { state, asked };
  }

  test("follows from the forked block: its parent needs no call, each other header is read once", () => {
    const { state, asked } = stateOf(jsonOf);
    for (const number of [99, 95, 97, 92]) {
      assert.equal(state.hashAt(number), headerHash(chain.get(number)!));
    }
    assert.deepEqual(asked, [99, 98, 97, 96, 95, 94, 93]);
    assert.equal(state.hashAt(100), undefined);
  });

  test("a header that is not the parent of the next one is an error", () => {
    const { state } = stateOf((number) =>
      number === 97 ? blockJson({ ...chain.get(97)!, gasUsed: 1n }, headerHash(chain.get(97)!)) : jsonOf(number),
    );
    assert.equal(state.hashAt(98), headerHash(chain.get(98)!));
    assert.throws(() => state.hashAt(95), { code: "FORK_REMOTE_PROOF" });
  });
});
