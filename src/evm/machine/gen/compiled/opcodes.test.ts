import assert from "node:assert/strict";
import { test } from "node:test";
import { createRandom } from "../../../../../test/fuzz/random.ts";
import { compileAtOnce } from "../../../../../test/support/evm/machine/compile-at-once.ts";
import { testBlock, testMessage } from "../../../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../../../test/support/evm/state/memory-state.ts";
import type { Address } from "../../../../base/primitives/address.ts";
import { concatBytes } from "../../../../base/primitives/bytes.ts";
import { bytesToHex, hexToBytes } from "../../../../base/primitives/hex.ts";
import { createWorldState } from "../../../state/world-state.ts";
import { createEvm } from "../../engine.ts";
import { opcodesOf } from "../../opcodes.ts";

const ROUNDS = 40;
const contract = `0x${"cc".repeat(20)}` as Address;
const interpreter = createEvm();
const compiled = createEvm({ tier: compileAtOnce() });

/** Words at the borders of limbs, signs, shifts and small offsets. */
const WORDS = [
  0n,
  1n,
  2n,
  7n,
  31n,
  32n,
  33n,
  63n,
  64n,
  65n,
  127n,
  128n,
  192n,
  255n,
  256n,
  0x1000n,
  1n << 31n,
  1n << 32n,
  (1n << 63n) - 1n,
  1n << 63n,
  (1n << 64n) - 1n,
  1n << 64n,
  1n << 127n,
  1n << 128n,
  (1n << 192n) - 1n,
  (1n << 255n) - 1n,
  1n << 255n,
  (1n << 256n) - 1n,
  (1n << 256n) - 2n,
  (1n << 256n) - (1n << 64n),
  0x0102030405060708n << 100n,
  // Divisors and factors of real contracts, and words without a 0 among their limbs
  10_000n,
  10n ** 18n,
  0xff_f2e5_0f5f_6569_32efn << 64n,
  (1n << 112n) - 1n,
  2n ** 255n - 19n,
  0xf1e2d3c4b5a697887766554433221100f1e2d3c4b5a6978877665544332211ffn,
];

/** How the words come onto the stack: as constants, unknown, or unknown below 2^64. */
const SOURCES = {
  constant: (word: bigint) => `7f${hex(word)}`,
  unknown: (_: bigint, index: number) => `61${hex(BigInt(32 * index), 4)}35`,
  short: (_: bigint, index: number) => `61${hex(BigInt(32 * index), 4)}3567ffffffffffffffff16`,
} as const;

const LEAVING = /^(CALL|CALLCODE|DELEGATECALL|STATICCALL|CREATE2?|SELFDESTRUCT|JUMPI?)$/;

for (const opcode of opcodesOf("osaka")) {
  if (!opcode || LEAVING.test(opcode.name)) continue;
  test(`${opcode.name} is the same compiled and interpreted`, () => {
    const random = createRandom(opcode.code + 1);
    for (let round = 0; round < ROUNDS; round++) {
      const words = Array.from({ length: opcode.pops }, () => random.pick(WORDS));
      const sources = words.map(() => random.pick(Object.keys(SOURCES) as (keyof typeof SOURCES)[]));
      const pushes = words.map((word, i) => SOURCES[sources[i]!](word, i)).join("");
      const immediate = "a5".repeat(opcode.code >= 0x60 && opcode.code <= 0x7f ? opcode.code - 0x5f : 0);
      // Its results, with the words below them and the memory's size, are what the call returns.
      const results = Array.from({ length: opcode.pushes + 1 }, (_, i) => `61${hex(BigInt(64 * i), 4)}52`);
      const code = hexToBytes(
        `0x60aa60bb${pushes}${hex(BigInt(opcode.code), 2)}${immediate}59${results.join("")}6103c05ff3`,
      );
      const data = concatBytes(...words.map((word) => hexToBytes(`0x${hex(word)}`)));
      const expected = run(interpreter, code, data);
      assert.deepEqual(run(compiled, code, data), expected, bytesToHex(code));
    }
  });
}

function run(evm: ReturnType<typeof createEvm>, code: Uint8Array, data: Uint8Array) {
  const state = createWorldState(createMemoryState());
  state.setAccount(contract, { nonce: 1n, balance: 5n, codeHash: state.putCode(code) });
  const message = testMessage({ to: contract, data, value: 0n, gas: 1_000_000n });
  const { outcome, halt, gasLeft, returnData, logs } = evm.execute(message, testBlock(), state);
  return { outcome, halt, gasLeft, returnData: bytesToHex(returnData), logs };
}

function hex(word: bigint, digits = 64): string {
  return word.toString(16).padStart(digits, "0");
}
