import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import type { Address } from "../../primitives/address.ts";
import { bytesToHex, hexToBytes } from "../../primitives/hex.ts";
import type { TransactionFields } from "./codec.ts";
import { decodeAnyForm } from "./decode.ts";
import { buildTransaction } from "./encode.ts";
import { decodePlainForm } from "./plain-form.ts";
import { recoverSender } from "./sender.ts";
import { signTransaction } from "./sign.ts";

const key = hexToBytes(`0x${"11".repeat(32)}`);
const word = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.nat(300).map(BigInt),
  fc.nat(255).map((bits) => 2n ** BigInt(bits)),
);
const gas = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(300).map(BigInt));
const to = fc.option(fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => bytesToHex(bytes) as Address));
const data = fc.oneof(
  fc.uint8Array({ maxLength: 70 }),
  fc.nat(70_000).map((length) => new Uint8Array(length).fill(7)),
);
const common = { nonce: gas, gasLimit: gas, to, value: word, data };
const feeMarket = fc.record({
  ...common,
  type: fc.constant(2 as const),
  chainId: word,
  maxPriorityFeePerGas: word,
  maxFeePerGas: word,
  accessList: fc.constant([]),
});
const legacy = fc.record({
  ...common,
  type: fc.constant(0 as const),
  chainId: fc.option(fc.bigInt({ min: 1n, max: 2n ** 64n }), { nil: undefined }),
  gasPrice: word,
});
const fields: fc.Arbitrary<TransactionFields> = fc.oneof(feeMarket, legacy);
const signature = fc.record({ v: word, r: word, s: word });

test("decodePlainForm agrees with decodeAnyForm", () => {
  fc.assert(
    fc.property(fields, signature, (fields, signature) => {
      const { raw } = buildTransaction(fields, signature);
      const plain = decodePlainForm(raw);
      assert.deepEqual(plain, decodeAnyForm(raw));
    }),
    { numRuns: 500 },
  );
});

test("decodePlainForm accepts nothing that decodeAnyForm rejects, and reads the rest alike", () => {
  fc.assert(
    fc.property(fields, signature, fc.nat(), fc.nat(255), fc.nat(3), (fields, signature, at, value, kind) => {
      const { raw } = buildTransaction({ ...fields, data: fields.data.subarray(0, 60) }, signature);
      const bytes = damaged(raw, at % raw.length, value, kind);
      const plain = decodePlainForm(bytes);
      if (plain !== undefined) assert.deepEqual(plain, decodeAnyForm(bytes));
    }),
    { numRuns: 5_000 },
  );
});

/** `raw` with one byte replaced, removed or inserted, or cut off from there. */
function damaged(raw: Uint8Array, at: number, value: number, kind: number): Uint8Array {
  const before = raw.subarray(0, at);
  const rest = [raw.subarray(at + 1), raw.subarray(at + 1), raw.subarray(at), []][kind]!;
  return Uint8Array.from([...before, ...(kind === 1 || kind === 3 ? [] : [value]), ...rest]);
}

test("decodePlainForm leaves other types, and access lists, to decodeAnyForm", () => {
  const fields = {
    ...fc.sample(feeMarket, 1)[0]!,
    accessList: [{ address: ALICE, storageKeys: [] }],
  };
  assert.equal(decodePlainForm(signTransaction(fields, key).raw), undefined);
  assert.equal(decodePlainForm(new Uint8Array()), undefined);
  assert.equal(decodePlainForm(Uint8Array.of(2)), undefined);
  assert.equal(decodePlainForm(Uint8Array.of(0x01, 0xc0)), undefined);
});

const ALICE = `0x${"a1".repeat(20)}` as Address;

test("recoverSender gives the signer of a transaction of any size", () => {
  const signer = recoverSender(signTransaction(fc.sample(feeMarket, 1)[0]!, key));
  fc.assert(
    fc.property(fields, (fields) => {
      assert.equal(recoverSender(decodeAnyForm(signTransaction(fields, key).raw)), signer);
    }),
    { numRuns: 50 },
  );
});
