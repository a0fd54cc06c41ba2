import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { encodeAccount } from "../../../test/support/chain/encode-account.ts";
import { encodeBlockRecordV1 } from "../../../test/support/chain/encode-record-v1.ts";
import { plain } from "../../../test/support/chain/plain.ts";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import fc from "../../../test/support/fast-check.ts";
import type { Address } from "../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { type Hash, ZERO_HASH } from "../../base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../base/primitives/hex.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from "../../base/types/constants.ts";
import type { Header } from "../../base/types/header.ts";
import type { Receipt } from "../../base/types/receipt.ts";
import type { Account } from "../../evm/state/account.ts";
import { ByteReader } from "../../store/storage/byte-io.ts";
import type { BlockRecord } from "../block-store.ts";
import { encodeBlockLogs } from "../logs/block-logs.ts";
import { upgradeRecordV1 } from "../store/replace-log.ts";
import { addressPartsOf } from "./block-addresses.ts";
import {
  decodeAccessListSection,
  decodeAddressParts,
  decodeBlockRecord,
  decodeChangedAddresses,
  decodeChangeRows,
  decodeHeaderSection,
  decodeItem,
  decodePrefix,
  encodeBlockRecord,
  encodeIndexedRecord,
  itemOffsetsAt,
  PREFIX_LENGTH,
} from "./block-record.ts";
import {
  ACCOUNT_ENTRY_BYTES_MAX,
  accountEntryValue,
  decodeAccount,
  SLOT_ENTRY_BYTES_MAX,
  slotEntryValue,
} from "./changes-record.ts";
import { decodeIndexedParts } from "./indexed-block.ts";

const NONE: ReadonlySet<Address> = new Set();
const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const hash = bytesOf(32).map((bytes) => bytesToHex(bytes) as Hash);
const address = bytesOf(20).map((bytes) => bytesToHex(bytes) as Address);
const word = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const gas = fc.bigInt({ min: 0n, max: 2n ** 63n });
const bloom = fc.oneof(
  fc.constant(new Uint8Array(256)),
  bytesOf(256),
  fc.array(fc.nat(2047), { maxLength: 30 }).map((bits) => {
    const bytes = new Uint8Array(256);
    for (const bit of bits) bytes[bit >> 3]! |= 1 << (bit & 7);
    return bytes;
  }),
);

const anyFields: fc.Arbitrary<Header> = fc.record(
  {
    parentHash: hash,
    sha3Uncles: fc.oneof(hash, fc.constant(EMPTY_UNCLES_HASH)),
    coinbase: address,
    stateRoot: hash,
    transactionsRoot: fc.oneof(hash, fc.constant(EMPTY_TRIE_ROOT)),
    receiptsRoot: fc.oneof(hash, fc.constant(EMPTY_TRIE_ROOT)),
    logsBloom: bloom,
    difficulty: word,
    number: fc.maxSafeNat(),
    gasLimit: gas,
    gasUsed: gas,
    timestamp: fc.maxSafeNat(),
    extraData: fc.uint8Array({ maxLength: 32 }),
    mixHash: fc.oneof(hash, fc.constant(ZERO_HASH)),
    nonce: bytesOf(8),
    baseFeePerGas: word,
    withdrawalsRoot: fc.oneof(hash, fc.constant(EMPTY_TRIE_ROOT)),
    blobGasUsed: gas,
    excessBlobGas: gas,
    parentBeaconBlockRoot: fc.oneof(hash, fc.constant(ZERO_HASH)),
    requestsHash: hash,
    blockAccessListHash: fc.oneof(hash, fc.constant(EMPTY_UNCLES_HASH)),
    slotNumber: gas,
  },
  {
    requiredKeys: [
      "parentHash",
      "sha3Uncles",
      "coinbase",
      "stateRoot",
      "transactionsRoot",
      "receiptsRoot",
      "logsBloom",
      "difficulty",
      "number",
      "gasLimit",
      "gasUsed",
      "timestamp",
      "extraData",
      "mixHash",
      "nonce",
    ],
  },
);

/** The fields of Amsterdam come together. */
const header = anyFields.map(({ blockAccessListHash, slotNumber, ...rest }) =>
  blockAccessListHash === undefined || slotNumber === undefined ? rest : { ...rest, blockAccessListHash, slotNumber },
);

const receipt = fc
  .record(
    {
      status: fc.constantFrom(0 as const, 1 as const),
      postState: hash,
      cumulativeGasUsed: gas,
      gasUsed: gas,
      logsBloom: bloom,
      logs: fc.array(
        fc.record({
          address,
          topics: fc.array(hash, { maxLength: 4 }),
          data: fc.uint8Array({ maxLength: 300 }),
        }),
        { maxLength: 3 },
      ),
      contractAddress: fc.option(address),
      effectiveGasPrice: word,
      blobGasUsed: gas,
      blobGasPrice: word,
    },
    {
      requiredKeys: ["cumulativeGasUsed", "gasUsed", "logsBloom", "logs", "contractAddress", "effectiveGasPrice"],
    },
  )
  .map((fields) => fields as Omit<Receipt, "type">);

const account: fc.Arbitrary<Account> = fc.record({
  nonce: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  balance: word,
  codeHash: fc.oneof(hash, fc.constant(EMPTY_CODE_HASH)),
});
const slot = fc.oneof(
  hash,
  fc.nat(300).map((n) => `0x${n.toString(16).padStart(64, "0")}` as Hash),
);
const change = fc.record({
  address,
  account: fc.option(account),
  storage: fc.array(fc.tuple(slot, fc.oneof(word, fc.constant(0n))), { maxLength: 5 }).map((e) => new Map(e)),
  storageCleared: fc.boolean(),
});
const withdrawal = fc.record({ index: gas, validatorIndex: gas, address, amount: gas });

/** Transactions come from a real chain: their encoding is tested where it is made. */
const transactions = fc.nat(1_000).map((seed) => {
  const chain = new RandomChain(seed);
  chain.next();
  return chain.next().record.block.transactions;
});

const record: fc.Arbitrary<BlockRecord> = fc
  .tuple(
    fc.record({ hash, header, transactions, uncles: fc.array(header, { maxLength: 2 }) }),
    fc.option(fc.array(withdrawal, { maxLength: 3 }), { nil: undefined }),
    fc.array(address, { minLength: 4, maxLength: 4 }),
    fc.array(receipt, { minLength: 4, maxLength: 4 }),
    fc.array(change, { maxLength: 5 }),
    fc.array(fc.tuple(hash, fc.uint8Array({ maxLength: 500 })), { maxLength: 2 }),
    fc.uint8Array({ maxLength: 40 }),
    fc.option(fc.uint8Array({ minLength: 1, maxLength: 300 }), { nil: undefined }),
  )
  .map(([block, withdrawals, senders, receipts, accounts, codes, consensusData, accessList]) => ({
    block: { ...block, ...(withdrawals && { withdrawals }) },
    senders: senders.slice(0, block.transactions.length),
    receipts: block.transactions.map(({ type }, i) => ({ ...receipts[i]!, type })),
    changes: { accounts, codes: new Map(codes) },
    consensusData,
    ...(accessList && "slotNumber" in block.header && { accessList }),
  }));

function headerSection(payload: Uint8Array): Uint8Array {
  return payload.subarray(PREFIX_LENGTH, decodePrefix(payload).offsetsOffset);
}

function itemOf(payload: Uint8Array, index: number): Uint8Array {
  const offsets = new ByteReader(payload, itemOffsetsAt(decodePrefix(payload), index));
  return payload.subarray(offsets.u32(), offsets.u32());
}

describe("block record", () => {
  test("comes back from its bytes", () => {
    fc.assert(
      fc.property(record, (record) => {
        const payload = encodeBlockRecord(record, NONE);
        assert.deepEqual(plain(decodeBlockRecord(payload)), plain(record));
      }),
      { numRuns: 300 },
    );
  });

  test("has a version that older programs reject by name where its header has the fields of Amsterdam", () => {
    fc.assert(
      fc.property(record, (record) => {
        const payload = encodeBlockRecord(record, NONE);
        assert.equal(payload[1], record.block.header.slotNumber === undefined ? 1 : 2);
      }),
    );
  });

  test("gives its access list alone, and names a list that is not the header's", () => {
    fc.assert(
      fc.property(record, fc.nat(), ({ accessList, ...record }, at) => {
        if (accessList === undefined) return;
        const { block } = record;
        const header = { ...block.header, blockAccessListHash: keccak256Hash(accessList) };
        const sectionOf = (stored: object) => {
          const payload = encodeBlockRecord({ ...record, block: { ...block, header }, ...stored }, NONE);
          const { restOffset, changesOffset } = decodePrefix(payload);
          return payload.subarray(restOffset, changesOffset);
        };
        assert.deepEqual(plain(decodeAccessListSection(sectionOf({ accessList }), header)), plain(accessList));
        assert.equal(decodeAccessListSection(sectionOf({}), header), undefined);
        const damaged = Uint8Array.from(accessList);
        damaged[at % damaged.length]! ^= 1;
        const section = sectionOf({ accessList: damaged });
        assert.throws(() => decodeAccessListSection(section, header), { name: "MalformedBytesError" });
      }),
    );
  });

  test("gives the index the same as the decoded block", () => {
    fc.assert(
      fc.property(record, (record) => {
        const unchanged = new Set(record.changes.accounts.slice(1).map(({ address }) => address));
        const { payload, rows } = encodeIndexedRecord(record, unchanged);
        assert.deepEqual(plain(rows), plain(decodeChangeRows(payload)));
        const decoded = decodeBlockRecord(payload);
        const { block, changes } = decoded;
        const { receipts, ...parts } = decodeIndexedParts(payload);
        assert.deepEqual(plain(parts), {
          block: plain({
            hash: block.hash,
            header: block.header,
            transactions: block.transactions.map(({ hash }) => ({ hash })),
          }),
          changes: plain(changes),
          rows: plain(decodeChangeRows(payload)),
        });
        assert.deepEqual(encodeBlockLogs({ block, receipts }), encodeBlockLogs(decoded));
      }),
      { numRuns: 300 },
    );
  });

  test("gives the address index the same as the decoded block", () => {
    fc.assert(
      fc.property(record, (record) => {
        const payload = encodeBlockRecord(record, NONE);
        const parts = decodeAddressParts(payload);
        const decoded = addressPartsOf(decodeBlockRecord(payload));
        assert.deepEqual(Array.from(decodeChangedAddresses(payload)), decoded.changed);
        const { header, uncles, withdrawals, transactionCount } = decoded;
        assert.deepEqual(plain(parts.header), plain(header));
        assert.deepEqual(
          plain([parts.uncles, parts.withdrawals, parts.transactionCount]),
          plain([uncles, withdrawals, transactionCount]),
        );
        const ofItem = ({ transaction, sender, receipt }: (typeof items)[number]) =>
          plain([transaction, sender, receipt]);
        const items = [...parts.items];
        assert.deepEqual(items.map(ofItem), [...decoded.items].map(ofItem));
        assert.deepEqual([...parts.changed], [...decoded.changed]);
      }),
      { numRuns: 200 },
    );
  });

  test("gives number, hash, header and each transaction without the rest", () => {
    fc.assert(
      fc.property(record, (record) => {
        const payload = encodeBlockRecord(record, NONE);
        const prefix = decodePrefix(payload.subarray(0, PREFIX_LENGTH));
        const { block, receipts, senders } = record;
        assert.deepEqual(
          [prefix.number, prefix.hash, prefix.transactionCount],
          [block.header.number, block.hash, block.transactions.length],
        );
        assert.deepEqual(plain(decodeHeaderSection(headerSection(payload))), plain(block.header));
        let firstLogIndex = 0;
        for (const [index, transaction] of block.transactions.entries()) {
          const receipt = receipts[index]!;
          assert.deepEqual(
            plain(decodeItem(itemOf(payload, index))),
            plain({ transaction, sender: senders[index]!, receipt, firstLogIndex }),
          );
          firstLogIndex += receipt.logs.length;
        }
      }),
      { numRuns: 200 },
    );
  });

  test("rejects a prefix, a header and a transaction with any bit flipped", () => {
    const chain = new RandomChain(4);
    let { record } = chain.next();
    while (record.block.transactions.length === 0) record = chain.next().record;
    const payload = encodeBlockRecord(record, NONE);
    for (const [part, decode] of [
      [payload.subarray(0, PREFIX_LENGTH), decodePrefix],
      [headerSection(payload), decodeHeaderSection],
      [itemOf(payload, 0), decodeItem],
    ] as const) {
      decode(part);
      for (let bit = 0; bit < part.length * 8; bit++) {
        const damaged = Uint8Array.from(part);
        damaged[bit >> 3]! ^= 1 << (bit & 7);
        // Two bytes between version and checksum are not used.
        if (decode === decodePrefix && (bit >> 3 === 2 || bit >> 3 === 3)) continue;
        assert.throws(() => decode(damaged), { name: /MalformedBytesError|UnknownFormatError/ });
      }
    }
  });

  test("names a kind and a version that a newer program wrote", () => {
    const payload = encodeBlockRecord(new RandomChain(1).next().record, NONE);
    for (const offset of [0, 1]) {
      const newer = Buffer.from(payload);
      newer[offset]! += 2;
      assert.throws(() => decodeBlockRecord(newer), { code: "STORE_FORMAT_TOO_NEW" });
    }
  });

  test("of format 1 becomes the same record", () => {
    fc.assert(
      fc.property(record, ({ accessList: _, ...record }) => {
        const unchanged = new Set(record.changes.accounts.slice(0, 1).map((it) => it.address));
        const upgraded = upgradeRecordV1(encodeBlockRecordV1(record, unchanged));
        assert.deepEqual(upgraded, encodeBlockRecord(record, unchanged));
      }),
      { numRuns: 200 },
    );
  });

  test("gives each change as a row, whose value is at its offset under its key alone", () => {
    fc.assert(
      fc.property(record, fc.nat(), (record, turned) => {
        const payload = encodeBlockRecord(record, NONE);
        const { accounts, slots, codes } = decodeChangeRows(payload);
        assert.deepEqual(
          accounts.map(({ key, value }) => [bytesToHex(key), value && plain(decodeAccount(value))]),
          record.changes.accounts.map(({ address, account }) => [
            address,
            account === null ? undefined : plain(account),
          ]),
        );
        assert.deepEqual(
          slots.map(({ key, value }) => [bytesToHex(key), value ? BigInt(bytesToHex(value)) : 0n]),
          record.changes.accounts.flatMap(({ address, storage }) =>
            Array.from(storage, ([slot, value]) => [`${address}${slot.slice(2)}`, value]),
          ),
        );
        assert.deepEqual(
          codes.map(({ hash, code }) => [bytesToHex(hash), bytesToHex(code)]),
          Array.from(record.changes.codes, ([hash, code]) => [hash, bytesToHex(code)]),
        );
        for (const [rows, entryValue, length] of [
          [accounts, accountEntryValue, ACCOUNT_ENTRY_BYTES_MAX],
          [slots, slotEntryValue, SLOT_ENTRY_BYTES_MAX],
        ] as const) {
          for (const { key, value, offset } of rows) {
            const bytes = Uint8Array.from(payload.subarray(offset, offset + length));
            assert.deepEqual(plain(entryValue(bytes, key)), plain(value));
            const other = key.slice();
            other[turned % key.length]! ^= 1;
            assert.equal(entryValue(bytes, other), null);
            assert.equal(entryValue(bytes.subarray(0, 4), key), null);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  test("an entry with any bit flipped is rejected", () => {
    const change = {
      address: "0x00000000000000000000000000000000000000aa" as Address,
      account: { nonce: 3n, balance: 10n ** 18n, codeHash: EMPTY_CODE_HASH },
      storage: new Map([[`0x${"00".repeat(31)}07` as Hash, 12345n]]),
      storageCleared: false,
    };
    const base = new RandomChain(1).next().record;
    const changes = { accounts: [change], codes: new Map() };
    const payload = encodeBlockRecord({ ...base, changes }, NONE);
    const { accounts, slots } = decodeChangeRows(payload);
    const entryLengths = [25 + encodeAccount(change.account).length, 6 + 1 + 2];
    for (const [i, row] of [...accounts, ...slots].entries()) {
      const entryValue = i === 0 ? accountEntryValue : slotEntryValue;
      for (let bit = 0; bit < entryLengths[i]! * 8; bit++) {
        const bytes = Uint8Array.from(payload.subarray(row.offset));
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        assert.equal(entryValue(bytes, row.key), null, `bit ${bit}`);
      }
    }
  });

  test("accounts that are there for their slots alone give no row of their own", () => {
    const { record } = new RandomChain(3).next();
    const [first] = record.changes.accounts;
    const payload = encodeBlockRecord(record, new Set([first!.address]));
    assert.deepEqual(plain(decodeBlockRecord(payload)), plain(record));
    const keys = decodeChangeRows(payload).accounts.map(({ key }) => bytesToHex(key));
    assert.deepEqual(
      keys,
      record.changes.accounts.slice(1).map(({ address }) => address),
    );
  });

  test("an account comes back from its bytes; an empty one is still an account", () => {
    fc.assert(
      fc.property(account, (account) => {
        assert.deepEqual(plain(decodeAccount(encodeAccount(account))), plain(account));
        assert.ok(encodeAccount(account).length > 0);
      }),
    );
    assert.deepEqual(encodeAccount(null), EMPTY_BYTES);
  });

  test("bytes that end early are rejected", () => {
    const payload = encodeBlockRecord(new RandomChain(5).next().record, NONE);
    for (let length = 0; length < payload.length; length += 7) {
      assert.throws(() => decodeBlockRecord(payload.subarray(0, length)));
    }
  });

  test("an empty block is small", () => {
    const base = new RandomChain(1).next().record;
    const changes = { accounts: [], codes: new Map() };
    const payload = encodeBlockRecord({ ...base, changes, consensusData: EMPTY_BYTES }, NONE);
    assert.ok(payload.length < 260, `${payload.length} bytes`);
    assert.equal(hexToBytes(base.block.hash).length, 32);
  });
});
