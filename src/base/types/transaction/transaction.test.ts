import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Transaction as EthersTransaction } from "ethers";
import { transactionFields, transactions } from "../../../../test/support/base/types/arbitraries.ts";
import fc from "../../../../test/support/fast-check.ts";
import { fixture, skipWithout } from "../../../../test/support/fixtures.ts";
import { addressFromPrivateKey, SECP256K1_HALF_ORDER, SECP256K1_ORDER } from "../../crypto/secp256k1.ts";
import { NodeError } from "../../errors.ts";
import { ZERO_ADDRESS } from "../../primitives/address.ts";
import { bigintToFixedBytes, EMPTY_BYTES } from "../../primitives/bytes.ts";
import { bytesToHex, hexToBytes } from "../../primitives/hex.ts";
import { decodeRlp, encodeRlp, type RlpItem } from "../../primitives/rlp.ts";
import type { TransactionFields } from "./codec.ts";
import { decodePooledTransaction, decodeTransaction } from "./decode.ts";
import { buildTransaction, encodePooledTransaction } from "./encode.ts";
import { costOf, effectiveGasPrice, effectiveTip, maxFeePerGasOf, maxPriorityFeeOf } from "./fees.ts";
import { recoverAuthority, recoverSender, recoverSenders } from "./sender.ts";
import { signAuthorization, signTransaction } from "./sign.ts";
import { type BlobTransaction, isTransactionTypeSupported, type Transaction } from "./transaction.ts";

const key = bigintToFixedBytes(0x4646464646464646464646464646464646464646464646464646464646464646n, 32);
const account = addressFromPrivateKey(key);

const transfer = {
  type: 2,
  chainId: 1n,
  nonce: 7n,
  maxPriorityFeePerGas: 2n,
  maxFeePerGas: 100n,
  gasLimit: 21_000n,
  to: ZERO_ADDRESS,
  value: 5n,
  data: EMPTY_BYTES,
  accessList: [],
} as const satisfies TransactionFields;

test("decodeTransaction returns the encoded fields, the hash and the bytes", () => {
  fc.assert(
    fc.property(transactions, (tx) => {
      assert.deepEqual(decodeTransaction(tx.raw), tx);
      assert.deepEqual(buildTransaction(tx, tx), tx);
      assert.deepEqual(decodePooledTransaction(tx.raw), { tx });
    }),
  );
});

test("recoverSender finds the signer of every type", () => {
  fc.assert(
    fc.property(transactionFields, (fields) => {
      const tx = signTransaction(fields, key);
      assert.equal(recoverSender(tx), account);
      assert.deepEqual(decodeTransaction(tx.raw), tx);
    }),
    { numRuns: 50 },
  );
});

test("recoverSenders agrees with recoverSender, up to a transaction without sender", () => {
  const fields = fc.sample(transactionFields, { numRuns: 9, seed: 1 });
  const signed = fields.map((each) => signTransaction(each, key));
  assert.deepEqual(
    recoverSenders(signed),
    signed.map(() => account),
  );
  const { v, s } = signTransaction(transfer, key);
  const damaged = [
    // r on no point; s out of range; a type the fork does not know
    [buildTransaction(transfer, { v, r: 5n, s }), "osaka"],
    [buildTransaction(transfer, { v, r: 1n, s: 0n }), "osaka"],
    [signTransaction(transfer, key), "berlin"],
  ] as const;
  for (const [tx, hardfork] of damaged) {
    assert.throws(() => recoverSender(tx, hardfork));
    const known = signed.filter((each) => isTransactionTypeSupported(each.type, hardfork));
    assert.equal(recoverSenders([...known, tx, ...known], hardfork).length, known.length);
  }
  assert.deepEqual(recoverSenders([]), []);
});

test("signTransaction gives the example of EIP-155", () => {
  const tx = signTransaction(
    {
      type: 0,
      chainId: 1n,
      nonce: 9n,
      gasPrice: 20_000_000_000n,
      gasLimit: 21_000n,
      to: "0x3535353535353535353535353535353535353535" as typeof ZERO_ADDRESS,
      value: 10n ** 18n,
      data: EMPTY_BYTES,
    },
    key,
  );
  assert.equal(
    bytesToHex(tx.raw),
    "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080" +
      "25a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83",
  );
});

test("signed transactions of every type are read alike by ethers", () => {
  fc.assert(
    fc.property(transactionFields, (fields) => {
      // ethers accepts less: nonces of safe integers, tips up to the fee, whole sidecars, yParity 0 and 1.
      if (fields.type === 3 || fields.type === 4) return;
      if (fields.nonce > 2n ** 53n) return;
      if (fields.type === 2 && fields.maxPriorityFeePerGas > fields.maxFeePerGas) return;
      const tx = signTransaction(fields, key);
      const other = EthersTransaction.from(bytesToHex(tx.raw));
      assert.equal(other.hash, tx.hash);
      assert.equal(other.from?.toLowerCase(), account);
    }),
    { numRuns: 40 },
  );
});

test("damaged transactions give the same bytes back or a typed error", () => {
  fc.assert(
    fc.property(transactions, fc.nat(), fc.nat(255), fc.nat(2), ({ raw }, at, byte, cut) => {
      const bytes = Uint8Array.from(raw.subarray(0, raw.length - cut));
      bytes[at % Math.min(bytes.length, 60)] = byte;
      try {
        const { tx, sidecar } = decodePooledTransaction(bytes);
        assert.deepEqual(encodePooledTransaction(tx, sidecar), bytes);
        recoverSender(tx);
      } catch (error) {
        assert.ok(error instanceof NodeError, String(error));
      }
    }),
    { numRuns: 500 },
  );
});

test("random bytes are no transaction, and say so with a typed error", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        decodePooledTransaction(bytes);
      } catch (error) {
        assert.ok(error instanceof NodeError, String(error));
      }
    }),
    { numRuns: 1000 },
  );
});

for (const [name, hex, code] of [
  ["nothing", "0x", "TX_TOO_SHORT"],
  ["a type byte alone", "0x02", "TX_TOO_SHORT"],
  ["type 0 as an envelope", "0x00c0", "TX_TYPE_NOT_SUPPORTED"],
  ["an unknown type", "0x05c0", "TX_TYPE_NOT_SUPPORTED"],
  ["a string", "0x8401020304", "RLP_EXPECTED_LIST"],
  ["a string cut off", "0xb9", "INVALID_RLP"],
  ["a string behind a type", "0x02840102030405", "RLP_EXPECTED_LIST"],
  ["an empty list", "0xc0", "RLP_TOO_FEW_ELEMENTS"],
  ["a typed string", "0x0280", "RLP_EXPECTED_LIST"],
  ["a fault before bytes after the list", "0x02c0c0", "RLP_TOO_FEW_ELEMENTS"],
  ["a size with leading zeros", "0xf800", "RLP_NON_CANONICAL_SIZE"],
] as const) {
  test(`decodeTransaction rejects ${name}`, () => {
    assert.throws(() => decodeTransaction(hexToBytes(hex)), { code });
  });
}

/** The transfer above with one item of its list replaced. */
function withItem(index: number, item: RlpItem): Uint8Array {
  const items = [...(decodeRlp(signTransaction(transfer, key).raw.subarray(1)) as RlpItem[])];
  items[index] = item;
  return Uint8Array.of(2, ...encodeRlp(items));
}

for (const [name, index, item, code] of [
  ["a nonce of 2^64", 1, Uint8Array.of(1, ...new Uint8Array(8)), "RLP_STRING_TOO_LONG"],
  ["a nonce with leading zeros", 1, Uint8Array.of(0, 1), "RLP_LEADING_ZEROS"],
  ["a nonce that is a list", 1, [], "RLP_EXPECTED_STRING"],
  ["a fee of 2^256", 3, Uint8Array.of(1, ...new Uint8Array(32)), "RLP_STRING_TOO_LONG"],
  ["a gas limit of 2^64", 4, Uint8Array.of(1, ...new Uint8Array(8)), "RLP_STRING_TOO_LONG"],
  ["an address of 19 bytes", 5, new Uint8Array(19), "RLP_STRING_TOO_SHORT"],
  ["an address of 21 bytes", 5, new Uint8Array(21), "RLP_STRING_TOO_LONG"],
  ["an access list that is a string", 8, EMPTY_BYTES, "RLP_EXPECTED_LIST"],
  ["an access list entry without keys", 8, [[new Uint8Array(20)]], "RLP_TOO_FEW_ELEMENTS"],
  ["a storage key of 31 bytes", 8, [[new Uint8Array(20), [new Uint8Array(31)]]], "RLP_STRING_TOO_SHORT"],
  ["a thirteenth item", 12, EMPTY_BYTES, "RLP_TOO_MANY_ELEMENTS"],
] as const) {
  test(`decodeTransaction rejects ${name}`, () => {
    assert.throws(() => decodeTransaction(withItem(index, item)), { code });
  });
}

test("decodeTransaction rejects a byte after the transaction", () => {
  const raw = Uint8Array.of(...signTransaction(transfer, key).raw, 0);
  assert.throws(() => decodeTransaction(raw), { code: "INVALID_RLP" });
});

test("decodeTransaction names the first fault in wire order, whatever follows it", () => {
  const broken = withItem(5, new Uint8Array(21));
  for (const [name, at, byte, message] of [
    [
      "chain id",
      3,
      0x00,
      "non-canonical integer (leading zero bytes) for *big.Int, decoding into (types.DynamicFeeTx).ChainID",
    ],
    ["nonce", 4, 0xc0, "expected input string or byte for uint64, decoding into (types.DynamicFeeTx).Nonce"],
  ] as const) {
    const bytes = Uint8Array.from(broken);
    bytes[at] = byte;
    // What follows no longer fits the list either.
    bytes[bytes.length - 33] = 0xff;
    assert.throws(() => decodeTransaction(bytes), { message: `rlp: ${message}` }, name);
  }
});

test("decodeTransaction names the place inside a transaction as geth does", () => {
  assert.throws(() => decodeTransaction(withItem(8, [[new Uint8Array(20), [new Uint8Array(31)]]])), {
    message:
      "rlp: input string too short for common.Hash, decoding into (types.DynamicFeeTx).AccessList[0].StorageKeys[0]",
  });
});

const blobTransfer: TransactionFields = {
  ...transfer,
  type: 3,
  maxFeePerBlobGas: 1n,
  blobVersionedHashes: [],
};

test("blob and set-code transactions have no form that creates a contract", () => {
  const tx = buildTransaction({ ...blobTransfer, to: null }, { v: 0n, r: 1n, s: 1n });
  assert.throws(() => decodeTransaction(tx.raw), { code: "RLP_STRING_TOO_SHORT" });
});

test("a pooled blob transaction carries its sidecar in either version; its hash leaves it out", () => {
  const tx = signTransaction(blobTransfer, key) as BlobTransaction;
  const proof = new Uint8Array(48).fill(3);
  for (const wrapperVersion of [0, 1] as const) {
    const sidecar = {
      wrapperVersion,
      blobs: [new Uint8Array(131_072).fill(1)],
      commitments: [new Uint8Array(48).fill(2)],
      proofs: wrapperVersion === 0 ? [proof] : Array.from({ length: 128 }, () => proof),
    };
    const bytes = encodePooledTransaction(tx, sidecar);
    const decoded = decodePooledTransaction(bytes);
    assert.deepEqual(decoded, { tx, sidecar });
    // Blocks keep the transaction long after anybody needs its blobs.
    for (const view of [decoded.tx.raw, decoded.tx.data]) {
      assert.notEqual(view.buffer, bytes.buffer);
    }
    assert.throws(() => decodeTransaction(bytes), { code: "RLP_EXPECTED_STRING" });
  }
  const items = [decodeRlp(tx.raw.subarray(1)), Uint8Array.of(2), [], [], []];
  assert.throws(() => decodePooledTransaction(Uint8Array.of(3, ...encodeRlp(items))), {
    code: "TX_SIDECAR_VERSION_NOT_SUPPORTED",
  });
});

test("recoverSender refuses signatures by fork", () => {
  const legacy = {
    type: 0,
    chainId: undefined,
    nonce: 0n,
    gasPrice: 1n,
    gasLimit: 21_000n,
    to: null,
    value: 0n,
    data: EMPTY_BYTES,
  } as const satisfies TransactionFields;
  const { v, r, s } = signTransaction(legacy, key);
  const highS = buildTransaction(legacy, { v: 55n - v, r, s: SECP256K1_ORDER - s });
  assert.equal(recoverSender(highS, "frontier"), account);
  const refused = { code: "TX_INVALID_SIGNATURE_VRS" };
  assert.throws(() => recoverSender(highS, "homestead"), refused);
  for (const bad of [0n, 1n, 26n, 29n, 34n, 2n ** 255n]) {
    const tx = decodeTransaction(buildTransaction(legacy, { v: bad, r, s }).raw);
    if (bad < 35n) assert.throws(() => recoverSender(tx), refused);
    else assert.notEqual(recoverSender(tx), account);
  }
  for (const bad of [0n, SECP256K1_ORDER]) {
    assert.throws(() => recoverSender(buildTransaction(legacy, { v, r: bad, s })), refused);
    assert.throws(() => recoverSender(buildTransaction(legacy, { v, r, s: bad })), refused);
  }
  const protectedTx = signTransaction({ ...legacy, chainId: 1n }, key);
  assert.throws(() => recoverSender(protectedTx, "tangerineWhistle"), refused);
  assert.equal(recoverSender(protectedTx, "spuriousDragon"), account);
  assert.throws(() => recoverSender(buildTransaction(transfer, { v: 2n, r, s })), refused);
  assert.throws(() => recoverSender(signTransaction(transfer, key), "berlin"), {
    code: "TX_TYPE_NOT_SUPPORTED",
  });
  assert.throws(() => recoverSender(buildTransaction(transfer, { v: 0n, r: 5n, s: 1n })), {
    code: "TX_EC_RECOVERY_FAIL",
  });
});

test("recoverAuthority returns an authorization's signer, and undefined for an invalid one (EIP-7702)", () => {
  const good = signAuthorization({ chainId: 0n, address: ZERO_ADDRESS, nonce: 3n }, key);
  assert.equal(recoverAuthority(good), account);
  assert.equal(recoverAuthority({ ...good, yParity: 2n }), undefined);
  assert.equal(recoverAuthority({ ...good, r: 0n }), undefined);
  assert.equal(recoverAuthority({ ...good, s: SECP256K1_ORDER - good.s }), undefined);
  assert.ok(good.s <= SECP256K1_HALF_ORDER);
  assert.notEqual(recoverAuthority({ ...good, nonce: 4n }), account);
});

test("fee helpers follow EIP-1559", () => {
  const tx = signTransaction(transfer, key);
  assert.equal(effectiveGasPrice(tx, 50n), 52n);
  assert.equal(effectiveGasPrice(tx, 99n), 100n);
  assert.equal(effectiveTip(tx, 99n), 1n);
  assert.equal(effectiveTip(tx, 101n), -1n);
  assert.equal(maxFeePerGasOf(tx), 100n);
  assert.equal(maxPriorityFeeOf(tx), 2n);
  assert.equal(costOf(tx), 21_000n * 100n + 5n);
  const legacy: Transaction = signTransaction(
    {
      type: 0,
      chainId: 1n,
      nonce: 0n,
      gasPrice: 9n,
      gasLimit: 1n,
      to: null,
      value: 0n,
      data: EMPTY_BYTES,
    },
    key,
  );
  assert.equal(effectiveGasPrice(legacy, 50n), 9n);
  assert.equal(maxPriorityFeeOf(legacy), 9n);
});

for (const name of ["send-blob-tx", "send-dynamic-fee-access-list-transaction"]) {
  const file = fixture("rpc-compat", "tests", "eth_sendRawTransaction", `${name}.io`);
  test(`decodePooledTransaction finds the recorded hash of ${name}`, {
    skip: skipWithout(file, `${name}.io`),
  }, () => {
    const lines = readFileSync(file!, "utf8").split("\n");
    const message = (mark: string) => JSON.parse(lines.find((line) => line.startsWith(mark))!.slice(mark.length));
    const bytes = hexToBytes(message(">>").params[0]);
    const { tx, sidecar } = decodePooledTransaction(bytes);
    assert.equal(tx.hash, message("<<").result);
    assert.deepEqual(encodePooledTransaction(tx, sidecar), bytes);
    recoverSender(tx);
  });
}

test("decodePooledTransaction rejects malformed wrappers with the texts of geth's rlp.Split", () => {
  for (const [hex, message] of [
    ["0x0380", "rlp: expected List"],
    ["0x03b8", "unexpected EOF"],
    ["0x03c0", "unexpected EOF"],
    ["0x03f8", "unexpected EOF"],
    ["0x03c1c0", "unexpected EOF"],
    ["0x03c28101", "rlp: non-canonical size information"],
    ["0x03c2f8ff", "rlp: value size exceeds available input length"],
    ["0x03f801", "rlp: non-canonical size information"],
  ] as const) {
    assert.throws(() => decodePooledTransaction(hexToBytes(hex)), { message }, hex);
  }
});

test("a transaction's integer beyond 256 bits is rejected after faults of form after it", () => {
  const long = `a1${"11".repeat(33)}`;
  const legacy = (rest: string) => {
    const body = `01${long}${rest}`;
    return hexToBytes(`0x${(0xc0 + body.length / 2).toString(16)}${body}`);
  };
  assert.throws(() => decodeTransaction(legacy("018201")), {
    message: "rlp: element is larger than containing list",
  });
  assert.throws(() => decodeTransaction(legacy("018080808080808080")), {
    code: "RLP_TOO_MANY_ELEMENTS",
  });
  assert.throws(() => decodeTransaction(legacy("01808080808080")), {
    code: "RLP_STRING_TOO_LONG",
    details: { type: "*big.Int", where: "(types.LegacyTx).GasPrice" },
  });
});
