import assert from "node:assert/strict";
import { test } from "node:test";
import { ACCOUNTS, KEYS, PROPOSER } from "../../test/support/consensus/test-application.ts";
import { compressPublicKey } from "../base/crypto/compressed-public-key.ts";
import { publicKeyFromPrivate } from "../base/crypto/secp256k1.ts";
import { bigintToBytes, concatBytes, EMPTY_BYTES } from "../base/primitives/bytes.ts";
import { encodeRlp } from "../base/primitives/rlp.ts";
import { decodeProposerData, encodeProposerData } from "./consensus-data.ts";

const KEY = compressPublicKey(publicKeyFromPrivate(KEYS[1]!));

const CASES = [
  { feeRecipient: PROPOSER, extraData: EMPTY_BYTES, gasLimit: 30_000_000n },
  { feeRecipient: PROPOSER, extraData: new Uint8Array(32).fill(7), gasLimit: 2n ** 64n - 1n },
  { feeRecipient: PROPOSER, extraData: Uint8Array.of(0), gasLimit: 0n },
  {
    feeRecipient: PROPOSER,
    extraData: new Uint8Array(32).fill(7),
    gasLimit: 2n ** 64n - 1n,
    vote: { candidate: ACCOUNTS[1]!, authorize: true, publicKey: KEY },
  },
  {
    feeRecipient: PROPOSER,
    extraData: EMPTY_BYTES,
    gasLimit: 30_000_000n,
    vote: { candidate: ACCOUNTS[1]!, authorize: false, publicKey: EMPTY_BYTES },
  },
  { feeRecipient: PROPOSER, extraData: EMPTY_BYTES, gasLimit: 30_000_000n, forkHash: Uint8Array.of(1, 2, 3, 4) },
];

test("decodeProposerData inverts encodeProposerData", () => {
  for (const data of CASES) {
    const encoded = encodeProposerData(data);
    assert.equal(encoded[0], 0xbf);
    assert.deepEqual({ ...decodeProposerData(encoded) }, data);
  }
});

test("decodeProposerData rejects every prefix of an encoding, and every byte after one", () => {
  for (const data of CASES) {
    const encoded = encodeProposerData(data);
    for (let length = 0; length < encoded.length; length++) {
      assert.throws(() => decodeProposerData(encoded.subarray(0, length)), {
        code: "INVALID_PROPOSER_DATA",
      });
    }
    assert.throws(() => decodeProposerData(concatBytes(encoded, Uint8Array.of(0))), {
      code: "INVALID_PROPOSER_DATA",
    });
  }
  assert.throws(() => decodeProposerData(undefined), { code: "INVALID_PROPOSER_DATA" });
});

test("decodeProposerData accepts only the canonical encoding", () => {
  const recipient = Buffer.from(PROPOSER.slice(2), "hex");
  const field = (value: bigint) => bigintToBytes(value);
  const forms = [
    [field(1n), recipient, EMPTY_BYTES, field(5n), []],
    [Uint8Array.of(0, 1), recipient, EMPTY_BYTES, field(5n), []],
    [field(2n), recipient, EMPTY_BYTES, field(5n), []],
    [field(1n), recipient, EMPTY_BYTES, Uint8Array.of(0, 5), []],
    [field(1n), recipient, EMPTY_BYTES, new Uint8Array(9).fill(1), []],
    [field(1n), recipient.subarray(1), EMPTY_BYTES, field(5n), []],
    [field(1n), recipient, new Uint8Array(33), field(5n), []],
    [field(1n), recipient, EMPTY_BYTES, field(5n), EMPTY_BYTES],
    [field(1n), recipient, EMPTY_BYTES, field(5n), [EMPTY_BYTES]],
    [field(1n), [recipient], EMPTY_BYTES, field(5n), []],
    [field(1n), recipient, EMPTY_BYTES, field(5n)],
    [],
  ];
  for (const [index, form] of forms.entries()) {
    const bytes = concatBytes(Uint8Array.of(0xbf), encodeRlp(form));
    if (index === 0) assert.deepEqual(encodeProposerData(decodeProposerData(bytes)), bytes);
    else assert.throws(() => decodeProposerData(bytes), { code: "INVALID_PROPOSER_DATA" });
  }
});
