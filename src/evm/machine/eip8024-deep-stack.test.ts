import assert from "node:assert/strict";
import { test } from "node:test";
import { compileAtOnce } from "../../../test/support/evm/machine/compile-at-once.ts";
import { testBlock, testMessage } from "../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import type { Hardfork } from "../../base/params/hardforks.ts";
import type { Address } from "../../base/primitives/address.ts";
import { bytesToBigint } from "../../base/primitives/bytes.ts";
import { hexToBytes } from "../../base/primitives/hex.ts";
import { createWorldState } from "../state/world-state.ts";
import { createEvm } from "./engine.ts";
import type { Evm, ExecuteOptions } from "./evm.ts";

const contract = `0x${"cc".repeat(20)}` as Address;
type Build = { readonly evm: Evm; readonly options?: ExecuteOptions };
const evm = createEvm();
/** The build that checks the stack before each opcode, the one that checks it once a segment, and compiled contracts. */
const BUILDS: readonly [string, Build][] = [
  ["segments", { evm }],
  ["single opcodes", { evm, options: { tracer: { onStep() {} } } }],
  ["compiled contracts", { evm: createEvm({ tier: compileAtOnce() }) }],
];

function run(code: string, { evm, options = {} }: Build, hardfork: Hardfork = "amsterdam") {
  const state = createWorldState(createMemoryState());
  const codeHash = state.putCode(hexToBytes(`0x${code.replaceAll(" ", "")}`));
  state.setAccount(contract, { nonce: 1n, balance: 0n, codeHash });
  return evm.execute(testMessage({ to: contract }), testBlock({ hardfork }), state, options);
}

/** PUSH1 of `count` down to 1: 1 is on top. */
const pushes = (count: number) =>
  Array.from({ length: count }, (_, i) => `60${(count - i).toString(16).padStart(2, "0")}`).join("");
/** Returns operand `depth`, counted from 1, after `code`. */
const operandAfter = (count: number, code: string, depth: number) =>
  `${pushes(count)} ${code} ${"50".repeat(depth - 1)} 5f 52 60 20 5f f3`;

/** Returns `count` operands, the top first. */
const returnAll = (count: number) =>
  Array.from({ length: count }, (_, i) => `61${(32 * i).toString(16).padStart(4, "0")}52`).join("") +
  `61${(32 * count).toString(16).padStart(4, "0")}5ff3`;
const wordsOf = (data: Uint8Array) =>
  Array.from({ length: data.length / 32 }, (_, i) => Number(bytesToBigint(data.subarray(32 * i, 32 * i + 32))));

/** The byte that names a depth: the inverse of the decoding. */
const depthByte = (depth: number) => ((depth + 111) % 256).toString(16).padStart(2, "0");

for (const [name, build] of BUILDS) {
  test(`DUPN and SWAPN reach 235 words deep, by ${name} (EIP-8024)`, () => {
    for (const depth of [17, 100, 108, 109, 235]) {
      const copied = run(operandAfter(240, `e6${depthByte(depth)}`, 1), build);
      assert.equal(bytesToBigint(copied.returnData), BigInt(depth), `DUPN ${depth}`);
      const onTop = run(operandAfter(240, `e7${depthByte(depth)}`, 1), build);
      assert.equal(bytesToBigint(onTop.returnData), BigInt(depth + 1), `SWAPN ${depth}`);
      const below = run(operandAfter(240, `e7${depthByte(depth)}`, depth + 1), build);
      assert.equal(bytesToBigint(below.returnData), 1n, `SWAPN ${depth}`);
    }
  });

  test(`EXCHANGE swaps the pair that its byte names, by ${name} (EIP-8024)`, () => {
    const seen = new Set<string>();
    for (let byte = 0; byte < 256; byte++) {
      const code = `e8${byte.toString(16).padStart(2, "0")}`;
      if (byte >= 82 && byte <= 127) {
        assert.deepEqual(run(`${pushes(32)}${code}`, build).halt, {
          kind: "invalidOpcode",
          opcode: 0xe8,
          operand: byte,
        });
        continue;
      }
      const { returnData } = run(`${pushes(32)}${code}${returnAll(32)}`, build);
      const moved = wordsOf(returnData).filter((value, i) => value !== i + 1);
      assert.equal(moved.length, 2, code);
      const [deep, shallow] = moved as [number, number];
      assert.ok(shallow >= 2 && shallow < deep && deep + shallow - 2 <= 30, code);
      seen.add(moved.join());
    }
    assert.equal(seen.size, 210);
  });

  test(`a stack with fewer words than the byte asks for underflows, by ${name}`, () => {
    assert.deepEqual(run(`${pushes(16)} e6 80`, build).halt, { kind: "stackUnderflow", have: 16, need: 17 });
    assert.deepEqual(run(`${pushes(17)} e7 80`, build).halt, { kind: "stackUnderflow", have: 17, need: 18 });
    // 0x8e names items 2 and 3.
    assert.deepEqual(run(`${pushes(2)} e8 8e`, build).halt, { kind: "stackUnderflow", have: 2, need: 3 });
  });

  test(`a byte that names no operand is an opcode of its own, to which code can jump, by ${name}`, () => {
    const jump = "6004 56 e6 5b 6001 5f 52 60 20 5f f3";
    assert.equal(bytesToBigint(run(jump, build).returnData), 1n);
    assert.deepEqual(run(`${pushes(20)} e6 5b`, build).halt, { kind: "invalidOpcode", opcode: 0xe6, operand: 0x5b });
  });

  test(`the byte behind the end of the code is 0, by ${name}`, () => {
    assert.equal(run(`${pushes(200)} e6`, build).outcome, "success");
    assert.deepEqual(run(`${pushes(100)} e6`, build).halt, { kind: "stackUnderflow", have: 100, need: 145 });
  });
}

test("DUPN is no opcode before Amsterdam", () => {
  assert.deepEqual(run("e6", { evm }, "osaka").halt, { kind: "invalidOpcode", opcode: 0xe6 });
});
