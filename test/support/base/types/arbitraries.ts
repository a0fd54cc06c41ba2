import { addressFromBytes } from "../../../../src/base/primitives/address.ts";
import { hashFromBytes } from "../../../../src/base/primitives/hash.ts";
import type { BlockParts } from "../../../../src/base/types/block-codec.ts";
import type { Header } from "../../../../src/base/types/header.ts";
import type { Log } from "../../../../src/base/types/receipt.ts";
import type { TransactionFields } from "../../../../src/base/types/transaction/codec.ts";
import { decodeTransaction } from "../../../../src/base/types/transaction/decode.ts";
import { buildTransaction } from "../../../../src/base/types/transaction/encode.ts";
import type { Transaction } from "../../../../src/base/types/transaction/transaction.ts";
import fc from "../../fast-check.ts";

/** As fc.record, giving plain objects: deepEqual compares prototypes. */
function record<T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
}

const uint64s = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const uint256s = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 0n, max: 1000n }));
const safeUints = fc.maxSafeNat();
const fixed = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const addresses = fixed(20).map(addressFromBytes);
const hashes = fixed(32).map(hashFromBytes);
const data = fc.uint8Array({ maxLength: 80 });

const base = { nonce: uint64s, gasLimit: uint64s, value: uint256s, data };
const anyTo = { to: fc.option(addresses) };
const accessList = fc.array(record({ address: addresses, storageKeys: fc.array(hashes, { maxLength: 3 }) }), {
  maxLength: 3,
});
const feeMarket = {
  ...base,
  chainId: uint256s,
  maxPriorityFeePerGas: uint256s,
  maxFeePerGas: uint256s,
  accessList,
};
const authorization = record({
  chainId: uint256s,
  address: addresses,
  nonce: uint64s,
  yParity: fc.bigInt({ min: 0n, max: 255n }),
  r: uint256s,
  s: uint256s,
});

/** The fields of a transaction of any type, every value within its type's range. */
export const transactionFields: fc.Arbitrary<TransactionFields> = fc.oneof(
  record({
    type: fc.constant(0 as const),
    ...base,
    ...anyTo,
    chainId: fc.option(fc.bigInt({ min: 1n, max: 2n ** 64n }), { nil: undefined }),
    gasPrice: uint256s,
  }),
  record({
    type: fc.constant(1 as const),
    ...base,
    ...anyTo,
    chainId: uint256s,
    gasPrice: uint256s,
    accessList,
  }),
  record({ type: fc.constant(2 as const), ...feeMarket, ...anyTo }),
  record({
    type: fc.constant(3 as const),
    ...feeMarket,
    to: addresses,
    maxFeePerBlobGas: uint256s,
    blobVersionedHashes: fc.array(hashes, { maxLength: 3 }),
  }),
  record({
    type: fc.constant(4 as const),
    ...feeMarket,
    to: addresses,
    authorizationList: fc.array(authorization, { maxLength: 3 }),
  }),
);

/** A transaction under a signature that need not be valid. */
export const transactions: fc.Arbitrary<Transaction> = fc
  .tuple(transactionFields, uint256s, uint256s, uint256s)
  // Decoded once more, so that a legacy transaction's chain id is the one its `v` states.
  .map(([fields, v, r, s]) => decodeTransaction(buildTransaction(fields, { v, r, s }).raw));

const optionalHeaderFields = fc
  .tuple(fc.nat(7), uint256s, hashes, uint64s, uint64s, hashes, hashes, hashes, uint64s)
  .map(([count, baseFeePerGas, withdrawalsRoot, blobGasUsed, excessBlobGas, beacon, requests, list, slotNumber]) =>
    Object.fromEntries(
      Object.entries({
        baseFeePerGas,
        withdrawalsRoot,
        blobGasUsed,
        excessBlobGas,
        parentBeaconBlockRoot: beacon,
        requestsHash: requests,
        blockAccessListHash: list,
        slotNumber,
        // The last two are there together.
      }).slice(0, count === 7 ? 8 : count),
    ),
  );

export const headers: fc.Arbitrary<Header> = fc
  .tuple(
    record({
      parentHash: hashes,
      sha3Uncles: hashes,
      coinbase: addresses,
      stateRoot: hashes,
      transactionsRoot: hashes,
      receiptsRoot: hashes,
      logsBloom: fixed(256),
      difficulty: uint256s,
      number: safeUints,
      gasLimit: uint64s,
      gasUsed: uint64s,
      timestamp: safeUints,
      extraData: fc.uint8Array({ maxLength: 32 }),
      mixHash: hashes,
      nonce: fixed(8),
    }),
    optionalHeaderFields,
  )
  .map(([header, optional]) => ({ ...header, ...optional }));

const withdrawal = record({
  index: uint64s,
  validatorIndex: uint64s,
  address: addresses,
  amount: uint64s,
});

export const blocks: fc.Arbitrary<BlockParts> = fc
  .tuple(
    record({
      header: headers,
      transactions: fc.array(transactions, { maxLength: 4 }),
      uncles: fc.array(headers, { maxLength: 2 }),
    }),
    fc.option(fc.array(withdrawal, { maxLength: 3 })),
  )
  .map(([parts, withdrawals]) => (withdrawals ? { ...parts, withdrawals } : parts));

export const logs: fc.Arbitrary<Log> = record({
  address: addresses,
  topics: fc.array(hashes, { maxLength: 4 }),
  data,
});
