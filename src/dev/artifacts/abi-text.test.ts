import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeAbiParameters, toFunctionSelector } from "viem";
import fc from "../../../test/support/fast-check.ts";
import { hexToBytes } from "../../base/primitives/hex.ts";
import { type AbiParameter, abiText, selectorOf } from "./abi.ts";

const ADDRESS = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const WORD = `0x${"ab".repeat(32)}`;

/** Each with the text that its values have. */
const CASES: readonly (readonly [parameters: readonly AbiParameter[], values: readonly unknown[], text: string])[] = [
  [[{ type: "uint256", name: "x" }, { type: "int8" }], [5n, -3], "x: 5, -3"],
  [[{ type: "address" }, { type: "bool" }], [ADDRESS, true], `${ADDRESS}, true`],
  [[{ type: "bytes4" }, { type: "bytes32" }], ["0x01020304", WORD], `0x01020304, ${WORD}`],
  [[{ type: "string" }, { type: "bytes" }], ['a "b"', "0x0102"], '"a \\"b\\"", 0x0102'],
  [
    [{ type: "uint8[]" }, { type: "uint8[2]" }],
    [
      [1, 2, 3],
      [4, 5],
    ],
    "[1, 2, 3], [4, 5]",
  ],
  [[{ type: "string[2]" }, { type: "uint256" }], [["a", "b"], 7n], '["a", "b"], 7'],
  [
    [{ type: "uint8[2][]" }],
    [
      [
        [1, 2],
        [3, 4],
      ],
    ],
    "[[1, 2], [3, 4]]",
  ],
  [
    [
      {
        type: "tuple[]",
        name: "list",
        components: [
          { type: "uint256", name: "x" },
          { type: "string", name: "label" },
        ],
      },
      { type: "tuple", components: [{ type: "bool" }, { type: "uint8[]" }] },
    ],
    [[{ x: 1n, label: "one" }], [false, [9]]],
    'list: [(x: 1, label: "one")], (false, [9])',
  ],
];

test("abiText writes the values of every kind of parameter, as viem encodes them", () => {
  for (const [parameters, values, text] of CASES) {
    const data = hexToBytes(encodeAbiParameters(parameters as never, values as never));
    assert.equal(abiText(parameters, data), text);
    assert.equal(abiText(parameters, data.subarray(0, data.length - 32)), undefined);
  }
});

test("abiText of any bytes ends, with a text of bounded length or none", () => {
  const word = fc.oneof(
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
    fc.nat(600).map((value) => Uint8Array.from(Buffer.from(value.toString(16).padStart(64, "0"), "hex"))),
  );
  const data = fc.array(word, { maxLength: 20 }).map((words) => Uint8Array.from(words.flatMap((each) => [...each])));
  fc.assert(
    fc.property(data, fc.constantFrom(...CASES), (bytes, [parameters]) => {
      const text = abiText(parameters, bytes);
      assert.ok(text === undefined || text.length < 100_000);
    }),
    { numRuns: 500 },
  );
});

test("abiText shows the start of long arrays", () => {
  const data = encodeAbiParameters([{ type: "uint8[]" }], [Array.from({ length: 40 }, () => 1)]);
  assert.match(abiText([{ type: "uint8[]" }], hexToBytes(data))!, /^\[(?:1, ){16}… 24 more\]$/);
});

test("selectorOf writes tuples out", () => {
  const item = {
    type: "function",
    name: "f",
    inputs: [
      {
        type: "tuple[]",
        components: [{ type: "uint256" }, { type: "tuple", components: [{ type: "bool" }] }],
      },
      { type: "address" },
    ],
  };
  assert.equal(selectorOf(item), toFunctionSelector("f((uint256,(bool))[],address)"));
});
