import assert from "node:assert/strict";
import { test } from "node:test";
import { transactionFields, transactions } from "../../../../test/support/base/types/arbitraries.ts";
import fc from "../../../../test/support/fast-check.ts";
import {
  addressFromPrivateKey,
  hasScalars,
  SECP256K1_HALF_ORDER,
  SECP256K1_ORDER,
  signatureBytes,
} from "../../crypto/secp256k1.ts";
import { NodeError } from "../../errors.ts";
import { HARDFORKS, type Hardfork, RULES_AT } from "../../params/hardforks.ts";
import { addressToBytes } from "../../primitives/address.ts";
import { concatBytes } from "../../primitives/bytes.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { decodeTransaction } from "./decode.ts";
import { buildTransaction } from "./encode.ts";
import { senderRecovery } from "./recover-senders.thread.ts";
import { recoverSender, recoverSenders } from "./sender.ts";
import { signingHash, signTransaction } from "./sign.ts";
import { readSignedDigest } from "./signed-digest.ts";
import { isTransactionTypeSupported, type Transaction } from "./transaction.ts";

const key = hexToBytes(`0x${"11".repeat(32)}`);
const WORD_MAX = 2n ** 256n - 1n;

/** Integers at the borders of the rules, and of every length in bytes. */
const scalars = fc.oneof(
  fc.constantFrom(0n, 1n, 0x7fn, 0x80n, SECP256K1_HALF_ORDER, SECP256K1_HALF_ORDER + 1n),
  fc.constantFrom(SECP256K1_ORDER - 1n, SECP256K1_ORDER, SECP256K1_ORDER + 1n, WORD_MAX),
  fc.nat(255).map((bits) => 2n ** BigInt(bits)),
  fc.bigInt({ min: 1n, max: SECP256K1_HALF_ORDER }),
);
const vs = fc.oneof(
  fc.constantFrom(0n, 1n, 27n, 28n, 37n, 38n),
  fc.nat(40).map(BigInt),
  fc.constantFrom(0x7fn, 0x80n, 255n, 256n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 64n + 1n, WORD_MAX),
);
/** The last one, which has every type, is half of them. */
const hardforks = fc.oneof(fc.constant("osaka" as const), fc.constantFrom(...HARDFORKS));

/** The rules by integers, as EIP-2 and EIP-155 state them. */
function parityByRule({ type, v, r, s }: Transaction, hardfork: Hardfork): 0 | 1 | undefined {
  const sMax = RULES_AT[hardfork].homestead ? SECP256K1_HALF_ORDER : SECP256K1_ORDER - 1n;
  if (r < 1n || r >= SECP256K1_ORDER || s < 1n || s > sMax) return undefined;
  if (type !== 0) return v === 0n ? 0 : v === 1n ? 1 : undefined;
  if (v === 27n || v === 28n) return v === 27n ? 0 : 1;
  if (v < 35n || !RULES_AT[hardfork].spuriousDragon) return undefined;
  return v % 2n === 1n ? 0 : 1;
}

test("readSignedDigest gives digest and signature of every type in every fork, exactly where the rules accept v, r and s", () => {
  const outcomes = new Set<string>();
  fc.assert(
    fc.property(transactionFields, vs, scalars, scalars, hardforks, (fields, v, r, s, hardfork) => {
      const tx = decodeTransaction(buildTransaction(fields, { v, r, s }).raw);
      if (!isTransactionTypeSupported(tx.type, hardfork)) {
        assert.throws(() => readSignedDigest(tx.raw, hardfork), { code: "TX_TYPE_NOT_SUPPORTED" });
        return;
      }
      const yParity = parityByRule(tx, hardfork);
      const isProtected = tx.type === 0 && tx.chainId !== undefined;
      outcomes.add(`${tx.type} ${isProtected} ${yParity}`);
      const expected = { digest: signingHash(tx), signature: signatureBytes(r, s), yParity };
      assert.deepEqual(readSignedDigest(tx.raw, hardfork), yParity === undefined ? undefined : expected);
    }),
    { numRuns: 4_000 },
  );
  // Types 0 to 4 and, of type 0, with and without a chain id: each with both parities and with none.
  assert.equal(outcomes.size, 18);
});

test("readSignedDigest of a transaction of any size has the digest that was signed", () => {
  fc.assert(
    fc.property(transactionFields, fc.nat(300_000), (fields, length) => {
      const signed = signTransaction({ ...fields, data: new Uint8Array(length).fill(7) }, key);
      assert.deepEqual(readSignedDigest(signed.raw, "osaka")?.digest, signingHash(signed));
    }),
    { numRuns: 50 },
  );
});

test("readSignedDigest of damaged bytes gives a signature in range, undefined or a typed error", () => {
  fc.assert(
    fc.property(transactions, fc.nat(), fc.nat(255), fc.nat(2), hardforks, ({ raw }, at, byte, cut, hardfork) => {
      const bytes = raw.slice(0, raw.length - cut);
      bytes[at % bytes.length] = byte;
      try {
        const signed = readSignedDigest(bytes, hardfork);
        if (signed !== undefined) assert.ok(hasScalars(signed) && signed.digest.length === 32);
      } catch (error) {
        assert.ok(error instanceof NodeError, String(error));
      }
    }),
    { numRuns: 3_000 },
  );
  for (const bytes of [[], [2], [0xc0], [5, 0xc0], [0x80]]) {
    assert.throws(() => readSignedDigest(Uint8Array.from(bytes), "osaka"), NodeError);
  }
});

/** As the importer sends them to the thread. */
function packed(transactions: readonly Transaction[]): Uint8Array {
  return concatBytes(...transactions.flatMap(({ raw }) => [new Uint8Array(Uint32Array.of(raw.length).buffer), raw]));
}

test("the thread of an import recovers the senders that recoverSender gives, up to the first bad signature", () => {
  const keys = Array.from({ length: 200 }, (_, i) => new Uint8Array(32).fill(1 + i));
  const sampled = fc.sample(transactionFields, { numRuns: keys.length, seed: 7 });
  const signed = sampled.map((fields, i) => signTransaction(fields, keys[i]!));
  const senders = signed.map((tx) => recoverSender(tx));
  assert.deepEqual(senders, keys.map(addressFromPrivateKey));
  assert.deepEqual(recoverSenders(signed), senders);
  const recover = (all: readonly Transaction[]) =>
    senderRecovery.recover({ transactions: packed(all), hardfork: "osaka" });
  assert.deepEqual(recover(signed), concatBytes(...senders.map(addressToBytes)));
  assert.deepEqual(recover([]), new Uint8Array(0));
  for (const at of [0, 63, 64, 130, 199]) {
    const tx = signed[at]!;
    const { v, r, s } = tx;
    for (const bad of [
      { v, r, s: SECP256K1_ORDER - s },
      { v: 34n, r, s },
      // r on no point
      { v, r: 5n, s: 1n },
    ]) {
      const damaged = signed.with(at, buildTransaction(tx, bad));
      assert.deepEqual(recover(damaged), concatBytes(...senders.slice(0, at).map(addressToBytes)));
    }
  }
});
