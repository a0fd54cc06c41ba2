import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import type { Address } from "../primitives/address.ts";
import { type Hash, hashFromBigint } from "../primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../primitives/hex.ts";
import { encodeRlp, type RlpItem } from "../primitives/rlp.ts";
import {
  type AccountAccess,
  type BlockAccessList,
  blockAccessListHash,
  decodeBlockAccessList,
  EMPTY_BLOCK_ACCESS_LIST_HASH,
  encodeBlockAccessList,
  firstDifference,
  InvalidBlockAccessListError,
} from "./block-access-list.ts";

/** Of block 49 of the chain in go-ethereum's tests. */
const EMPTY_BLOCK = `0x${[
  "f90139de9400000961ef480eb55e80d19ad83579a64c007002c0c480010203c0c0c0de94000064d678505ad48f8ccb093bc65613800e8282c0c48001",
  "0203c0c0c0de940000bbddc7ce488642fb579f8b00f3a590007251c0c480010203c0c0c0de940000bff46984e3725691fa540a8c7589300d8282c0c4",
  "80010203c0c0c0f840940000f90827f1c53a10cb7a02335b175320002935e6e530e3e280a017f3924ab6423e75669046abbcdd695b5148f7090267ca",
  "d5116bec41f97d3948c0c0c0c0f84c94000f3df6d732807ef1319fb7b8bb8522d0beac02f2c98201eac5c4808201eae78221e9e3e280a07313b4315d",
  "d27586f940f8f2bf8af76825d8f24d2ae2c24d885dcb0cdd8d50f5c0c0c0c0ec94d803681e487e6ac18053afc5a6cd813c86ec3e4dc0c0d2d1018fc0",
  "97ce7bc90715b34b9f274876e800c0c0",
].join("")}` as const;

const words = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 0n, max: 300n }));
const addresses = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => bytesToHex(bytes) as Address);
const slots = words.map(hashFromBigint);
const byIndex = <T>(value: fc.Arbitrary<T>) =>
  fc
    .uniqueArray(fc.tuple(fc.nat(0xffff_ffff), value), { selector: ([index]) => index, maxLength: 4 })
    .map((entries) => entries.sort(([a], [b]) => a - b));
const values = (max: bigint) =>
  byIndex(fc.bigInt({ min: 0n, max })).map((entries) => entries.map(([index, value]) => ({ index, value })));
const account: fc.Arbitrary<AccountAccess> = fc
  .tuple(
    addresses,
    fc.uniqueArray(slots, { maxLength: 6 }),
    fc.nat(6),
    values(2n ** 256n - 1n).filter((changes) => changes.length > 0),
    values(2n ** 256n - 1n),
    values(2n ** 64n - 1n),
    byIndex(fc.uint8Array({ maxLength: 80 })),
  )
  .map(([address, all, split, changes, balanceChanges, nonceChanges, codes]) => ({
    address,
    storageChanges: all
      .slice(0, split)
      .sort()
      .map((slot) => ({ slot, changes })),
    storageReads: all.slice(split).sort(),
    balanceChanges,
    nonceChanges,
    codeChanges: codes.map(([index, code]) => ({ index, code })),
  }));
const lists: fc.Arbitrary<BlockAccessList> = fc
  .uniqueArray(account, { selector: ({ address }) => address, maxLength: 5 })
  .map((accounts) => accounts.sort((a, b) => (a.address < b.address ? -1 : 1)));

test("decodeBlockAccessList inverts encodeBlockAccessList", () => {
  fc.assert(
    fc.property(lists, (list) => {
      const decoded = decodeBlockAccessList(encodeBlockAccessList(list));
      assert.deepEqual(decoded, list);
      assert.equal(firstDifference(list, decoded), undefined);
    }),
  );
});

test("blockAccessListHash is go-ethereum's, of an empty list and of a small block", () => {
  assert.equal(bytesToHex(encodeBlockAccessList([])), "0xc0");
  assert.equal(blockAccessListHash([]), EMPTY_BLOCK_ACCESS_LIST_HASH);
  const list = decodeBlockAccessList(hexToBytes(EMPTY_BLOCK));
  assert.equal(bytesToHex(encodeBlockAccessList(list)), EMPTY_BLOCK);
  assert.equal(blockAccessListHash(list), "0x8af1db358db7bee54a072b73ce7f5bed3b00ef1dd4f0de24e3efa1b24e56af09");
  assert.equal(list.length + list.flatMap(slotsOf).length, 26);
});

test("decodeBlockAccessList rejects any other form, and names the account, the field and the index", () => {
  const [a, b, c] = [1, 2, 3].map((n) => new Uint8Array(20).fill(n)) as [Uint8Array, Uint8Array, Uint8Array];
  const one = Uint8Array.of(1);
  const two = Uint8Array.of(2);
  const none: RlpItem = [];
  const accountOf = (address: RlpItem, fields: { readonly [at: number]: RlpItem } = {}): RlpItem => [
    address,
    ...[1, 2, 3, 4, 5].map((at) => fields[at] ?? none),
  ];
  const name = `account 0x${"01".repeat(20)}`;
  const slot1 = hashFromBigint(1n);
  for (const [item, where] of [
    [[accountOf(b), accountOf(a)], `list, ${name}`],
    [[accountOf(a), accountOf(c), accountOf(c)], `list, account 0x${"03".repeat(20)}`],
    [[accountOf(one)], "account number 0"],
    [[accountOf(none)], "account number 0"],
    [[accountOf(a).slice(0, 5) as RlpItem], "account number 0"],
    [one, "list"],
    [
      [
        accountOf(a, {
          1: [
            [one, [[one, two]]],
            [one, [[one, two]]],
          ],
        }),
      ],
      `${name}, storageChanges, slot ${slot1}`,
    ],
    [
      [
        accountOf(a, {
          1: [
            [two, [[one, two]]],
            [one, [[one, two]]],
          ],
        }),
      ],
      `${name}, storageChanges, slot ${slot1}`,
    ],
    [[accountOf(a, { 1: [[one, none]] })], `${name}, storageChanges, slot ${slot1}`],
    [
      [
        accountOf(a, {
          1: [
            [
              one,
              [
                [two, one],
                [one, two],
              ],
            ],
          ],
        }),
      ],
      `${name}, storageChanges, slot ${slot1}, index 1`,
    ],
    [[accountOf(a, { 1: [[Uint8Array.of(0), [[one, two]]]] })], `${name}, storageChanges`],
    [[accountOf(a, { 2: [two, one] })], `${name}, storageReads, slot ${slot1}`],
    [[accountOf(a, { 2: [Uint8Array.of(0, 1)] })], `${name}, storageReads`],
    [[accountOf(a, { 1: [[one, [[one, two]]]], 2: [one] })], `${name}, storageReads, slot ${slot1}`],
    [
      [
        accountOf(a, {
          3: [
            [one, one],
            [one, two],
          ],
        }),
      ],
      `${name}, balanceChanges, index 1`,
    ],
    [[accountOf(a, { 3: [[one, new Uint8Array(33).fill(1)]] })], `${name}, balanceChanges, index 1`],
    [[accountOf(a, { 3: [[new Uint8Array(5).fill(1), one]] })], `${name}, balanceChanges`],
    [
      [
        accountOf(a, {
          4: [
            [two, one],
            [one, one],
          ],
        }),
      ],
      `${name}, nonceChanges, index 1`,
    ],
    [[accountOf(a, { 4: [[one, new Uint8Array(9).fill(1)]] })], `${name}, nonceChanges, index 1`],
    [[accountOf(a, { 4: [[one, one, one]] })], `${name}, nonceChanges`],
    [[accountOf(a, { 5: [[one, none]] })], `${name}, codeChanges, index 1`],
    [[accountOf(a, { 5: one })], `${name}, codeChanges`],
  ] as const) {
    assert.throws(
      () => decodeBlockAccessList(encodeRlp(item as RlpItem)),
      (error) => error instanceof InvalidBlockAccessListError && error.details["where"] === where,
      where,
    );
  }
  assert.throws(() => decodeBlockAccessList(Uint8Array.of(0xc0, 0xc0)), { code: "INVALID_RLP" });
});

test("firstDifference finds every change of a list, and says where it is", () => {
  const list = decodeBlockAccessList(hexToBytes(EMPTY_BLOCK));
  const at = list.findIndex(({ storageChanges }) => storageChanges.length > 0);
  const found = list[at]!;
  const {
    address,
    storageChanges: [written],
  } = found;
  const {
    slot,
    changes: [change],
  } = written!;
  const replaced = (account: AccountAccess) => list.with(at, account);
  const place = `account ${address}`;
  for (const [actual, text] of [
    [list.toSpliced(at, 1), `${place}: missing`],
    [
      replaced({ ...found, storageChanges: [] }),
      `${place}, storageChanges, slot ${slot}, index 0: no change, expected ${change!.value}`,
    ],
    [
      replaced({ ...found, storageChanges: [{ slot, changes: [{ index: 0, value: 7n }] }] }),
      `${place}, storageChanges, slot ${slot}, index 0: 7, expected ${change!.value}`,
    ],
    [replaced({ ...found, storageReads: [ONE] }), `${place}, storageReads, slot ${ONE}: not expected`],
    [
      replaced({ ...found, nonceChanges: [{ index: 2, value: 9n }] }),
      `${place}, nonceChanges, index 2: 9, expected no change`,
    ],
    [
      replaced({ ...found, codeChanges: [{ index: 2, code: Uint8Array.of(1) }] }),
      `${place}, codeChanges, index 2: 0x01, expected no change`,
    ],
  ] as const) {
    assert.equal(firstDifference(list, actual), text);
    assert.notEqual(blockAccessListHash(actual), blockAccessListHash(list));
    assert.notEqual(firstDifference(actual, list), undefined);
  }
});

test("firstDifference is undefined for equal lists only", () => {
  fc.assert(
    fc.property(lists, lists, (a, b) => {
      const areEqual = blockAccessListHash(a) === blockAccessListHash(b);
      assert.equal(firstDifference(a, b) === undefined, areEqual);
      assert.equal(firstDifference(b, a) === undefined, areEqual);
    }),
  );
});

const ONE = hashFromBigint(1n);

function slotsOf({ storageChanges, storageReads }: AccountAccess): readonly Hash[] {
  return [...storageChanges.map(({ slot }) => slot), ...storageReads];
}
