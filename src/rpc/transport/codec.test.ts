import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { ZERO_HASH } from "../../base/primitives/hash.ts";
import { blockOverrides, callArguments, stateOverrides } from "../methods/params/call-arguments.ts";
import { blockNumberOrTag, blockSelector } from "../ports/block-selector.ts";
import { address, data, hash, jsonUnsigned, quantity, quantity64 } from "./codec.ts";
import { InvalidValueError } from "./errors.ts";

const reasonOf = (decode: () => unknown): string | undefined => {
  try {
    decode();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof InvalidValueError);
    return error.message;
  }
};
const ADDRESS = `0x${"11".repeat(20)}`;
const into = (reason: string, type: string) => `json: cannot unmarshal ${reason} into Go value of type ${type}`;

test("an unsigned JSON integer is 0 to 2^53 - 1, and null is 0", () => {
  assert.equal(jsonUnsigned.decode(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  assert.equal(jsonUnsigned.decode(null), 0);
  for (const [value, reason] of [
    [-1, "number -1"],
    [1.5, "number 1.5"],
    [2 ** 53, "number 9007199254740992"],
    ["0x1", "string"],
  ] as const) {
    assert.equal(
      reasonOf(() => jsonUnsigned.decode(value)),
      into(reason, "uint64"),
    );
  }
});

test("quantities are refused in geth's words", () => {
  for (const [value, reason] of [
    [5, "non-string"],
    [null, "non-string"],
    ["ff", "hex string without 0x prefix"],
    ["0x", 'hex string "0x"'],
    ["0x0400", "hex number with leading zero digits"],
    ["0xzz", "invalid hex string"],
    ["0x10000000000000000", "hex number > 64 bits"],
  ] as const) {
    assert.equal(
      reasonOf(() => quantity64.decode(value)),
      into(reason, "hexutil.Uint64"),
    );
  }
  assert.equal(
    reasonOf(() => quantity.decode(`0x1${"0".repeat(64)}`)),
    into("hex number > 256 bits", "*hexutil.Big"),
  );
});

test("data, addresses and hashes are refused in geth's words", () => {
  assert.equal(
    reasonOf(() => data.decode("0xf")),
    into("hex string of odd length", "hexutil.Bytes"),
  );
  assert.equal(
    reasonOf(() => data.decode("00")),
    into("hex string without 0x prefix", "hexutil.Bytes"),
  );
  assert.equal(
    reasonOf(() => data.decode("0xzz")),
    into("invalid hex string", "hexutil.Bytes"),
  );
  assert.equal(
    reasonOf(() => address.decode("0x00")),
    "hex string has length 2, want 40 for common.Address",
  );
  assert.equal(
    reasonOf(() => address.decode("")),
    "hex string has length 0, want 40 for common.Address",
  );
  assert.equal(
    reasonOf(() => address.decode(`0x${"zz".repeat(20)}`)),
    into("invalid hex string", "common.Address"),
  );
  assert.equal(
    reasonOf(() => hash.decode("0x0")),
    into("hex string of odd length", "common.Hash"),
  );
});

test("the length of a text that is no hex is that of its UTF-8, as in Go", () => {
  // Two bytes, where JavaScript counts one.
  assert.equal(
    reasonOf(() => data.decode("0xé")),
    into("invalid hex string", "hexutil.Bytes"),
  );
  assert.equal(
    reasonOf(() => hash.decode("0xé")),
    "hex string has length 2, want 64 for common.Hash",
  );
  assert.equal(
    reasonOf(() => address.decode("0x\u{1f600}")),
    "hex string has length 4, want 40 for common.Address",
  );
  assert.equal(
    reasonOf(() => quantity64.decode(`0x${"é".repeat(8)}`)),
    into("invalid hex string", "hexutil.Uint64"),
  );
  assert.equal(
    reasonOf(() => quantity64.decode(`0x${"é".repeat(9)}`)),
    into("hex number > 64 bits", "hexutil.Uint64"),
  );
});

test("a key of an override that is no address or slot is rejected with its place", () => {
  const odd = "json: cannot unmarshal hex string of odd length into Go";
  for (const [value, field, reason] of [
    [{ "0x1": {} }, undefined, `${odd} value of type common.Address`],
    [
      { "0x1": {} },
      "TraceCallConfig.StateOverrides",
      `${odd} struct field TraceCallConfig.StateOverrides of type common.Address`,
    ],
    [
      { [ADDRESS]: { stateDiff: { "0x1": ZERO_HASH } } },
      undefined,
      `${odd} struct field OverrideAccount.stateDiff of type common.Hash`,
    ],
    [
      { [ADDRESS]: { state: { [ZERO_HASH]: "0x5" } } },
      undefined,
      `${odd} struct field OverrideAccount.state of type common.Hash`,
    ],
  ] as const) {
    assert.equal(
      reasonOf(() => stateOverrides.decode(value, field)),
      reason,
    );
  }
});

test("block selectors are refused in geth's words", () => {
  for (const [value, reason] of [
    [
      { blockNumber: "0x1", blockHash: ZERO_HASH },
      "cannot specify both BlockHash and BlockNumber, choose one or the other",
    ],
    [{}, "must specify either BlockHash or BlockNumber"],
    [null, "must specify either BlockHash or BlockNumber"],
    [5, into("number", "string")],
    [[], into("array", "string")],
    [{ blockHash: "0x1" }, into("object", "string")],
    ["0x8000000000000000", "blocknumber too high"],
    ["x", "hex string without 0x prefix"],
  ] as const) {
    assert.equal(
      reasonOf(() => blockSelector.decode(value)),
      reason,
    );
  }
  assert.equal(
    reasonOf(() => blockNumberOrTag.decode("0x8000000000000000")),
    "block number larger than int64",
  );
  assert.equal(
    reasonOf(() => blockNumberOrTag.decode(1)),
    "hex string without 0x prefix",
  );
});

test("what a codec writes it reads again", () => {
  const bytes = fc.uint8Array({ maxLength: 100 });
  fc.assert(
    fc.property(bytes, fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (blob, number) => {
      assert.deepEqual(data.decode(JSON.parse(data.encode(blob) as string)), blob);
      assert.equal(quantity.decode(JSON.parse(quantity.encode(number) as string)), number);
    }),
  );
});

test("no value makes a codec fail otherwise than by refusing", () => {
  const hexLike = fc.stringMatching(/^0?[xX]?[0-9a-fA-F]{0,70}$/);
  const codecs = [
    address,
    hash,
    data,
    quantity,
    quantity64,
    blockSelector,
    blockNumberOrTag,
    callArguments,
    stateOverrides,
    blockOverrides,
  ];
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), hexLike), fc.constantFrom(...codecs), (value, codec) => {
      reasonOf(() => codec.decode(value));
    }),
    { numRuns: 3000 },
  );
});
