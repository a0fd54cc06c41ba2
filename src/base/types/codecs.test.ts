import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, headers, logs } from "../../../test/support/base/types/arbitraries.ts";
import fc from "../../../test/support/fast-check.ts";
import { NodeError } from "../errors.ts";
import { addressToBytes } from "../primitives/address.ts";
import { bigintToBytes, concatBytes, EMPTY_BYTES } from "../primitives/bytes.ts";
import { hashToBytes } from "../primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../primitives/hex.ts";
import { keccak256Hash } from "../primitives/keccak.ts";
import { decodeRlp, encodeRlp, type RlpItem } from "../primitives/rlp.ts";
import { blockSize, decodeBlock, encodeBlock, readBlockHeader, readCanonicalTransactions } from "./block-codec.ts";
import { addToBloom, BLOOM_LENGTH, bloomMayContain, logsBloom, mergeBloom, ReceiptBlooms } from "./bloom.ts";
import { EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from "./constants.ts";
import { decodeHeader, encodeHeader, headerHash } from "./header-codec.ts";
import { encodeReceipt } from "./receipt-codec.ts";

test("decodeHeader inverts encodeHeader with any number of optional fields", () => {
  fc.assert(
    fc.property(headers, (header) => {
      assert.deepEqual(decodeHeader(encodeHeader(header)), header);
    }),
  );
});

test("encodeHeader refuses a header with a gap among its optional fields", () => {
  fc.assert(
    fc.property(headers, (header) => {
      const { baseFeePerGas: _, ...rest } = header;
      if (rest.withdrawalsRoot !== undefined) {
        assert.throws(() => encodeHeader(rest), { name: "InvariantError" });
      }
    }),
  );
});

test("a header without its slot number is encoded, as simulations need it, and not decoded; one without its access list hash is neither", () => {
  fc.assert(
    fc.property(headers, (header) => {
      if (header.slotNumber === undefined) return;
      const { slotNumber: _, ...rest } = header;
      const fields = decodeRlp(encodeHeader(header)) as readonly RlpItem[];
      const encoded = encodeHeader(rest);
      assert.deepEqual(encoded, encodeRlp(fields.slice(0, -1)));
      assert.throws(() => decodeHeader(encoded), { code: "RLP_TOO_FEW_ELEMENTS" });
      const { blockAccessListHash: __, ...slotOnly } = header;
      assert.throws(() => encodeHeader(slotOnly), { name: "InvariantError" });
    }),
  );
});

test("decodeBlock inverts encodeBlock, and blockSize is its length", () => {
  fc.assert(
    fc.property(blocks, (parts) => {
      const bytes = encodeBlock(parts);
      assert.equal(blockSize(parts), bytes.length);
      assert.deepEqual(decodeBlock(bytes), { ...parts, hash: headerHash(parts.header) });
    }),
    { numRuns: 60 },
  );
});

test("readBlockHeader and readCanonicalTransactions agree with decodeBlock", () => {
  fc.assert(
    fc.property(blocks, (parts) => {
      const bytes = encodeBlock(parts);
      const { hash, header, transactions } = decodeBlock(bytes);
      assert.deepEqual(readBlockHeader(bytes), { hash, header });
      assert.deepEqual(
        readCanonicalTransactions(bytes),
        transactions.map(({ raw }) => raw),
      );
    }),
    { numRuns: 60 },
  );
  assert.throws(() => readBlockHeader(encodeRlp([])), { code: "RLP_TOO_FEW_ELEMENTS" });
  // A legacy transaction in a string is not its canonical form.
  const wrapped = encodeRlp([[], [Uint8Array.of(0xc1, 0x80)], []]);
  assert.throws(() => readCanonicalTransactions(wrapped), { code: "RLP_EXPECTED_LIST" });
});

test("encodeReceipt is type ‖ rlp([status, cumulativeGasUsed, logsBloom, logs]), with logs and without", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(0 as const, 1 as const, 2 as const, 3 as const, 4 as const),
      fc.constantFrom(0 as const, 1 as const),
      fc.bigInt(1n, 2n ** 40n),
      fc.array(logs, { maxLength: 2 }),
      (type, status, cumulativeGasUsed, list) => {
        const bloom = logsBloom(list);
        const rlp = encodeRlp([
          status === 1 ? Uint8Array.of(1) : EMPTY_BYTES,
          bigintToBytes(cumulativeGasUsed),
          bloom,
          list.map(({ address, topics, data }) => [addressToBytes(address), topics.map(hashToBytes), data]),
        ]);
        const receipt = { type, status, cumulativeGasUsed, logsBloom: bloom, logs: list };
        const expected = type === 0 ? rlp : concatBytes(Uint8Array.of(type), rlp);
        assert.deepEqual(encodeReceipt(receipt), expected);
      },
    ),
  );
});

test("damaged encodings give the same bytes back or a typed error", () => {
  const encodings = fc.oneof(headers.map(encodeHeader), blocks.map(encodeBlock));
  const decoders = [
    (bytes: Uint8Array) => encodeHeader(decodeHeader(bytes)),
    (bytes: Uint8Array) => encodeBlock(decodeBlock(bytes)),
  ];
  fc.assert(
    fc.property(encodings, fc.nat(), fc.nat(255), fc.nat(3), (encoded, at, byte, cut) => {
      const bytes = Uint8Array.from(encoded.subarray(0, encoded.length - cut));
      if (bytes.length > 0) bytes[at % Math.min(bytes.length, 40)] = byte;
      for (const recode of decoders) {
        try {
          assert.deepEqual(recode(bytes), bytes);
        } catch (error) {
          assert.ok(error instanceof NodeError, String(error));
        }
      }
    }),
    { numRuns: 300 },
  );
});

test("computing all blooms of a block equals computing each alone", () => {
  fc.assert(
    fc.property(fc.array(fc.array(logs, { maxLength: 4 }), { maxLength: 6 }), (receipts) => {
      const blooms = new ReceiptBlooms();
      for (const list of [...receipts, ...receipts]) {
        assert.deepEqual(blooms.of(list), logsBloom(list));
      }
    }),
    { numRuns: 30 },
  );
});

test("logsBloom holds every address and topic of its logs", () => {
  fc.assert(
    fc.property(fc.array(logs, { maxLength: 5 }), (all) => {
      const bloom = logsBloom(all);
      const merged = new Uint8Array(BLOOM_LENGTH);
      for (const log of all) {
        assert.ok(bloomMayContain(bloom, addressToBytes(log.address)));
        for (const topic of log.topics) assert.ok(bloomMayContain(bloom, hashToBytes(topic)));
        mergeBloom(merged, logsBloom([log]));
      }
      assert.deepEqual(merged, bloom);
    }),
    { numRuns: 30 },
  );
});

test("addToBloom sets the bits other clients set", () => {
  // Expected bytes from the bloom test of go-ethereum: "testtest", "test", "hallo", "other" are in, the rest is not.
  const bloom = new Uint8Array(BLOOM_LENGTH);
  for (const text of ["testtest", "test", "hallo", "other"]) addToBloom(bloom, Buffer.from(text));
  for (const text of ["testtest", "test", "hallo", "other"]) {
    assert.ok(bloomMayContain(bloom, Buffer.from(text)), text);
  }
  for (const text of ["tes", "lo"]) assert.ok(!bloomMayContain(bloom, Buffer.from(text)), text);
  const address = hexToBytes("0x22341ae42d6dd7384bc8584e50419ea3ac75b83f");
  const topic = hexToBytes("0x04491edcd115127caedbd478e2e7895ed80c7847e903431f94f9cfa579cad47f");
  const one = new Uint8Array(BLOOM_LENGTH);
  addToBloom(one, address);
  addToBloom(one, topic);
  assert.equal(
    one.reduce((bits, byte) => bits + byte.toString(2).replaceAll("0", "").length, 0),
    6,
  );
});

test("the constants are the hashes they are said to be", () => {
  assert.equal(keccak256Hash(encodeRlp([])), EMPTY_UNCLES_HASH);
  assert.equal(keccak256Hash(encodeRlp(EMPTY_BYTES)), EMPTY_TRIE_ROOT);
  assert.equal(bytesToHex(encodeRlp(EMPTY_BYTES)), "0x80");
});
