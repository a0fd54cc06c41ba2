import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ACCOUNTS,
  CHAIN_ID,
  GAS_LIMIT,
  inputOf,
  KEYS,
  openTestApplication,
  PROPOSER,
  proposalOf,
  type TestApplication,
  transferOf,
} from "../../test/support/consensus/test-application.ts";
import { IS_NIGHTLY } from "../../test/support/nightly.ts";
import { compressPublicKey } from "../base/crypto/compressed-public-key.ts";
import { publicKeyFromPrivate, SECP256K1_ORDER } from "../base/crypto/secp256k1.ts";
import { SYSTEM_ADDRESS } from "../base/params/gas.ts";
import { type Address, addressToBytes } from "../base/primitives/address.ts";
import { bigintToBytes, concatBytes, EMPTY_BYTES } from "../base/primitives/bytes.ts";
import type { Hash } from "../base/primitives/hash.ts";
import { encodeRlp, type RlpItem } from "../base/primitives/rlp.ts";
import type { TransactionFields } from "../base/types/transaction/codec.ts";
import { buildTransaction, encodePooledTransaction } from "../base/types/transaction/encode.ts";
import { signAuthorization, signTransaction } from "../base/types/transaction/sign.ts";
import type {
  Authorization,
  BlobTransaction,
  FeeMarketTransaction,
  Transaction,
} from "../base/types/transaction/transaction.ts";
import type { BlockInput } from "./application.ts";
import { encodeProposerData } from "./consensus-data.ts";

/** Damaged proposals in all; `FUZZ_RUNS=10000` for the full proof. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? (IS_NIGHTLY ? 2_000 : 1_000));
const RUNS_PER_BLOCK = 100;

type Random = (below: number) => number;
type Damage = (input: BlockInput, random: Random) => BlockInput;

const GAS_STEP = GAS_LIMIT / 1024n;

function withTxs(input: BlockInput, txs: readonly Uint8Array[]): BlockInput {
  return { ...input, txs };
}

function withFirst(input: BlockInput, first: Uint8Array): BlockInput {
  return withTxs(input, [first, ...input.txs.slice(1)]);
}

/** Proposer data with other fields than the format allows. */
function rawProposerData(overrides: Readonly<Record<number, RlpItem>>, more: readonly RlpItem[] = []) {
  const fields: RlpItem[] = [bigintToBytes(1n), addressToBytes(PROPOSER), EMPTY_BYTES, bigintToBytes(GAS_LIMIT), []];
  for (const [index, item] of Object.entries(overrides)) fields[Number(index)] = item;
  return concatBytes(Uint8Array.of(0xbf), encodeRlp([...fields, ...more]));
}

function gasLimitOf(gasLimit: bigint): Damage {
  return (input) => withFirst(input, encodeProposerData({ feeRecipient: PROPOSER, extraData: EMPTY_BYTES, gasLimit }));
}

function editTx(edit: (tx: Uint8Array, random: Random) => Uint8Array): Damage {
  return (input, random) => {
    const index = 1 + random(input.txs.length - 1);
    return withTxs(
      input,
      input.txs.map((tx, i) => (i === index ? edit(tx, random) : tx)),
    );
  };
}

/** Puts `made(random)` after the block's transactions. */
function append(made: (height: number, random: Random) => Uint8Array): Damage {
  return (input, random) => withTxs(input, [...input.txs, made(input.height, random)]);
}

/** Proposer data with this in place of a vote. */
function voteOf(item: RlpItem): Damage {
  return (input) => withFirst(input, rawProposerData({ 4: item }));
}

function keyOf(account: number): Uint8Array {
  return compressPublicKey(publicKeyFromPrivate(KEYS[account]!));
}

const CANDIDATE = addressToBytes(ACCOUNTS[1]!);
const ADD = Uint8Array.of(0xff);
const DROP = Uint8Array.of(0x00);

const DAMAGES: Readonly<Record<string, Damage>> = {
  "no elements": (input) => withTxs(input, []),
  "no proposer data": (input) => withTxs(input, input.txs.slice(1)),
  "proposer data last": (input) => withTxs(input, [...input.txs.slice(1), input.txs[0]!]),
  "proposer data twice": (input) => withTxs(input, [input.txs[0]!, ...input.txs]),
  "wrong prefix": (input, random) => {
    const first = input.txs[0]!.slice();
    first[0] = random(0xbf);
    return withFirst(input, first);
  },
  "trailing byte": (input) => withFirst(input, concatBytes(input.txs[0]!, Uint8Array.of(0))),
  "truncated proposer data": (input, random) =>
    withFirst(input, input.txs[0]!.slice(0, 1 + random(input.txs[0]!.length - 1))),
  "other version": (input, random) => withFirst(input, rawProposerData({ 0: bigintToBytes(BigInt(2 + random(200))) })),
  "short fee recipient": (input, random) => withFirst(input, rawProposerData({ 1: new Uint8Array(random(20)) })),
  "long fee recipient": (input) => withFirst(input, rawProposerData({ 1: new Uint8Array(21) })),
  "long extra data": (input, random) => withFirst(input, rawProposerData({ 2: new Uint8Array(33 + random(60)) })),
  "huge proposer data": (input) => withFirst(input, rawProposerData({ 2: new Uint8Array(300) })),
  "gas limit with leading zero": (input) =>
    withFirst(input, rawProposerData({ 3: concatBytes(Uint8Array.of(0), bigintToBytes(GAS_LIMIT)) })),
  "gas limit of nine bytes": (input) => withFirst(input, rawProposerData({ 3: new Uint8Array(9).fill(1) })),
  "vote without direction": voteOf([CANDIDATE]),
  "vote to add without a key": voteOf([CANDIDATE, ADD, EMPTY_BYTES]),
  "vote to add with the key of another": voteOf([CANDIDATE, ADD, keyOf(2)]),
  "vote to add with bytes that are no key": voteOf([CANDIDATE, ADD, new Uint8Array(33).fill(9)]),
  "vote to add with an uncompressed key": voteOf([CANDIDATE, ADD, publicKeyFromPrivate(KEYS[1]!)]),
  "vote to drop with a key": voteOf([CANDIDATE, DROP, keyOf(1)]),
  "vote with another direction": (input, random) =>
    voteOf([CANDIDATE, Uint8Array.of(1 + random(0xfe)), EMPTY_BYTES])(input, random),
  "vote with a direction of two bytes": voteOf([CANDIDATE, new Uint8Array(2), EMPTY_BYTES]),
  "vote about a short address": voteOf([CANDIDATE.subarray(1), DROP, EMPTY_BYTES]),
  "vote with a fourth field": voteOf([CANDIDATE, DROP, EMPTY_BYTES, EMPTY_BYTES]),
  "vote of lists": voteOf([[CANDIDATE], [DROP], []]),
  "vote as bytes": (input) => withFirst(input, rawProposerData({ 4: EMPTY_BYTES })),
  "sixth field": (input) => withFirst(input, rawProposerData({}, [EMPTY_BYTES])),
  "gas limit a step too high": gasLimitOf(GAS_LIMIT + GAS_STEP),
  "gas limit a step too low": gasLimitOf(GAS_LIMIT - GAS_STEP),
  "gas limit 0": gasLimitOf(0n),
  "gas limit 2^63": gasLimitOf(2n ** 63n),
  "height too low": (input) => ({ ...input, height: input.height - 1 }),
  "height too high": (input, random) => ({ ...input, height: input.height + 1 + random(1_000) }),
  "time before the parent": (input, random) => ({
    ...input,
    time: { ...input.time, seconds: input.time.seconds - 2 - random(1_000_000) },
  }),
  "transactions of one account swapped": (input) =>
    withTxs(input, [input.txs[0]!, input.txs[2]!, input.txs[1]!, ...input.txs.slice(3)]),
  "transaction missing": (input) => withTxs(input, [input.txs[0]!, ...input.txs.slice(2)]),
  "transaction twice": (input, random) => append(() => input.txs[1 + random(input.txs.length - 1)]!)(input, random),
  "transaction of the last block": (input, random) =>
    append((height) => transferOf(0, 2 * height - 3 < 0 ? 0 : 2 * height - 3).raw)(input, random),
  "bit flipped in a transaction": editTx((tx, random) => {
    const copy = tx.slice();
    copy[random(copy.length)]! ^= 1 << random(8);
    return copy;
  }),
  "transaction truncated": editTx((tx, random) => tx.slice(0, random(tx.length))),
  "transaction with a trailing byte": editTx((tx) => concatBytes(tx, Uint8Array.of(0))),
  "random bytes for a transaction": editTx((_, random) => Uint8Array.from({ length: random(200) }, () => random(256))),
  "transaction of another chain": append((height) => transferOf(2, height, { chainId: 1n }).raw),
  "nonce gap": append((_, random) => transferOf(3, 1 + random(100)).raw),
  "fee cap below the base fee": append(() => transferOf(3, 0, { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }).raw),
  "tip above the fee cap": append(() => transferOf(3, 0, { maxPriorityFeePerGas: 10n ** 11n }).raw),
  "more value than the account has": append(() => transferOf(3, 0, { value: 10n ** 24n }).raw),
  "less than intrinsic gas": append((_, random) => transferOf(3, 0, { gasLimit: BigInt(random(21_000)) }).raw),
  "more gas than the block has": append(
    (_, random) => transferOf(3, 0, { gasLimit: GAS_LIMIT + BigInt(random(1_000_000)) }).raw,
  ),
  "more gas than a transaction may have": append(() => transferOf(3, 0, { gasLimit: 2n ** 24n + 1n }).raw),
  "blob transaction with its blobs": append(() => encodePooledTransaction(blobTx(0), SIDECAR)),
  "blob transaction without a blob": append(() => blobTx(0, { blobVersionedHashes: [] }).raw),
  "blob transaction with more blobs than one may have": append(
    () => blobTx(0, { blobVersionedHashes: blobHashes(7) }).raw,
  ),
  "blob hash of another version": append(() => blobTx(0, { blobVersionedHashes: [`0x02${"00".repeat(31)}`] }).raw),
  "fee cap below the blob base fee": append(() => blobTx(0, { maxFeePerBlobGas: 0n }).raw),
  "blob transaction that creates a contract": append(() => blobTx(0, { to: null }).raw),
  "more blobs than the block may have": (input) =>
    withTxs(input, [
      ...input.txs,
      ...Array.from({ length: 30 }, (_, nonce) => blobTx(nonce, { blobVersionedHashes: blobHashes(6) }).raw),
    ]),
  "transaction of the system account, unsigned": append(() => unsigned(SYSTEM_ADDRESS, 0n).raw),
  "transaction of an account that a dev chain impersonates": append(() => unsigned(ACCOUNTS[2]!, 0n).raw),
  "signature with a high s": append(() => {
    const { r, s, v } = FIELDS;
    return buildTransaction(FIELDS, { r, s: SECP256K1_ORDER - s, v: 1n - v }).raw;
  }),
  "set-code transaction without an authorization": append(() => setCodeTx([]).raw),
  "more authorizations than the gas is for": append(() => {
    const authorization = signAuthorization({ chainId: CHAIN_ID, address: ACCOUNTS[1]!, nonce: 0n }, KEYS[2]!);
    return setCodeTx(Array(2_000).fill(authorization)).raw;
  }),
  "initcode longer than it may be": append(
    () => transferOf(3, 0, { to: null, data: new Uint8Array(49_153), gasLimit: 16_000_000n }).raw,
  ),
  "transaction of a type that is not there": append((_, random) => Uint8Array.of(5 + random(0x7a), 0xc0)),
  "deposit of another kind of chain": append(() => Uint8Array.of(0x7e, ...transferOf(3, 0).raw.subarray(1))),
};

function blobHashes(count: number): readonly Hash[] {
  return Array.from({ length: count }, (_, i) => `0x01${(i + 1).toString(16).padStart(62, "0")}` as Hash);
}

const SIDECAR = {
  wrapperVersion: 1,
  blobs: [new Uint8Array(131_072)],
  commitments: [new Uint8Array(48).fill(0xc0)],
  proofs: Array.from({ length: 128 }, () => new Uint8Array(48).fill(0xc0)),
} as const;

/** A transfer of the account that no valid proposal here is of. */
const FIELDS = transferOf(3, 0) as FeeMarketTransaction;

function blobTx(nonce: number, overrides: Partial<Record<keyof BlobTransaction, unknown>> = {}): BlobTransaction {
  const blobs = { type: 3, maxFeePerBlobGas: 10n ** 9n, blobVersionedHashes: blobHashes(1) } as const;
  const fields = { ...FIELDS, nonce: BigInt(nonce), ...blobs, ...overrides } as TransactionFields;
  return signTransaction(fields, KEYS[3]!) as BlobTransaction;
}

function setCodeTx(authorizationList: readonly Authorization[]): Transaction {
  return signTransaction(
    { ...FIELDS, type: 4, gasLimit: 1_000_000n, authorizationList } as TransactionFields,
    KEYS[3]!,
  );
}

/** As `impersonation.ts` has it: r is the sender, and s is 0. */
function unsigned(sender: Address, v: bigint) {
  return buildTransaction(FIELDS, { v, r: BigInt(sender), s: 0n });
}

/** Uniform integers below a bound, the same for the same seed. */
function seeded(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** In turns of three blocks: the one validator adds another and votes to drop it again, which that one confirms. */
function castVote({ voting }: TestApplication, height: number): { readonly proposer: Address } {
  const candidate = ACCOUNTS[1]!;
  voting.propose(candidate, height % 3 === 1, keyOf(1));
  return { proposer: height % 3 === 0 ? candidate : PROPOSER };
}

test(`${RUNS} damaged proposals are rejected and every valid one is accepted; finalize with and without cache and replay agree`, (t) => {
  const random = seeded(20_251_203);
  const [proposer, validator, replayer] = [openTestApplication(), openTestApplication(), openTestApplication()];
  const names = Object.keys(DAMAGES);
  const counts = new Map<string, number>();
  let accepted = 0;
  let changes = 0;
  const decided: BlockInput[] = [];
  const hashes: string[] = [];
  for (let run = 0; run < RUNS; ) {
    const height = decided.length + 1;
    for (const [from, nonce] of [
      [0, 2 * height - 2],
      [0, 2 * height - 1],
      [1, height - 1],
    ] as const) {
      proposer.mempool.add({ tx: transferOf(from, nonce) });
    }
    const proposal = proposalOf(height, castVote(proposer, height));
    const txs = proposer.application.prepareProposal({ ...proposal, maxTxBytes: 1_000_000 });
    assert.equal(txs.length, 4);
    const input = inputOf(proposal, txs);
    for (let i = 0; i < RUNS_PER_BLOCK && run < RUNS; i++, run++) {
      const name = names[run % names.length]!;
      const damaged = DAMAGES[name]!(input, random);
      assert.equal(validator.application.processProposal(damaged), false, `${name}, run ${run}`);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    assert.equal(validator.application.processProposal(input), true);
    accepted++;
    const results = [proposer, validator].map(({ application }) => {
      const result = application.finalizeBlock(input);
      application.commit();
      return result;
    });
    assert.deepEqual(results[1], results[0]);
    changes += results[0]!.validatorUpdates.length;
    decided.push(input);
    hashes.push(results[0]!.appHash);
  }
  for (const [index, input] of decided.entries()) {
    assert.equal(replayer.application.finalizeBlock(input).appHash, hashes[index]);
    replayer.application.commit();
  }
  assert.equal(
    [...counts.values()].reduce((sum, count) => sum + count, 0),
    RUNS,
  );
  assert.equal(changes, accepted - Math.floor((accepted + 1) / 3), "two of three votes decide");
  assert.deepEqual(validator.failures, []);
  t.diagnostic(`${RUNS} rejected in ${names.length} kinds, ${accepted} accepted and replayed`);
});

test("transactions of the kinds that are damaged above are accepted where they are whole", () => {
  const { application } = openTestApplication();
  const input = inputOf(proposalOf(1), application.prepareProposal({ ...proposalOf(1), maxTxBytes: 1_000_000 }));
  const authorization = signAuthorization({ chainId: CHAIN_ID, address: ACCOUNTS[1]!, nonce: 0n }, KEYS[2]!);
  const whole = [
    blobTx(0),
    blobTx(0, { blobVersionedHashes: blobHashes(6) }),
    setCodeTx([authorization]),
    transferOf(3, 0, { to: null, data: new Uint8Array(49_152), gasLimit: 16_000_000n }),
  ];
  for (const { raw } of whole) assert.equal(application.processProposal(withTxs(input, [...input.txs, raw])), true);
});
