import assert from "node:assert/strict";
import { test } from "node:test";
import { assemble } from "../../../../bench/evm/programs.ts";
import { generateCase } from "../../../../test/fuzz/generate.ts";
import { difference, runScene, sceneOf } from "../../../../test/fuzz/run.ts";
import { compileAtOnce } from "../../../../test/support/evm/machine/compile-at-once.ts";
import { testBlock, testMessage } from "../../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../../test/support/evm/state/memory-state.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { createWorldState } from "../../state/world-state.ts";
import { createEvm } from "../engine.ts";
import type { ExecuteOptions } from "../evm.ts";
import type { ContractCompiler } from "./compiled-tier.ts";

const PROGRAMS = 40;
const contract = `0x${"cc".repeat(20)}` as Address;

for (const [name, tier] of [
  ["compiled", compileAtOnce()],
  ["with the tier changed at every border of a block", compileAtOnce({ alternates: true })],
] as const) {
  test(`random programs end ${name} as they do in the interpreter`, () => {
    const [evm, interpreter] = [createEvm({ tier }), createEvm()];
    for (let seed = 7000; seed < 7000 + PROGRAMS; seed++) {
      const scene = sceneOf(generateCase(seed));
      // An odd gas limit: some segment of most programs cannot be paid.
      for (const gas of [scene.message.gas, scene.message.gas / 7n, 12_345n]) {
        const found = difference(runScene(scene, evm, { gas }), runScene(scene, interpreter, { gas }));
        assert.equal(found, undefined, `seed ${seed}, gas ${gas}`);
      }
    }
  });
}

/** 10,000 turns: half a million gas. */
const LOOP = assemble("PUSH2 2710 JUMPDEST PUSH1 01 SWAP1 SUB DUP1 PUSH1 03 JUMPI STOP");

test("the compiler is asked for code once the interpreter has used much gas in it, also within one call", () => {
  const { compiler, asked } = countingCompiler();
  const evm = createEvm({ tier: { compiler, hotGasPerByte: 30_000 } });
  call(evm, LOOP);
  assert.equal(asked(), 0);
  for (let i = 0; i < 2; i++) call(evm, LOOP);
  assert.equal(asked(), 1);
  // Asked again only after another million gas.
  call(evm, LOOP);
  assert.equal(asked(), 1);
  for (let i = 0; i < 4; i++) call(evm, LOOP);
  assert.equal(asked(), 2);
});

test("a call that is to be interpreted makes no code hot", () => {
  const { compiler, asked } = countingCompiler();
  const evm = createEvm({ tier: { compiler, hotGasPerByte: 30_000 } });
  for (let i = 0; i < 10; i++) call(evm, LOOP, { isInterpreted: true });
  call(evm, LOOP);
  assert.equal(asked(), 0);
});

test("a call that ran out of gas counts with the gas it had, under a deadline too", () => {
  const [endless, unpaid] = [assemble("JUMPDEST PUSH1 00 JUMP"), assemble("PUSH3 ffffff MLOAD")];
  for (const [code, options] of [
    [endless, {}],
    [endless, { deadlineMs: 1_000_000 }],
    [unpaid, {}],
    [unpaid, { deadlineMs: 1_000_000 }],
  ] as const) {
    const { compiler, asked } = countingCompiler();
    const evm = createEvm({ tier: { compiler, hotGasPerByte: 8_000_000 / code.length } });
    const state = createWorldState(createMemoryState());
    state.setAccount(contract, { nonce: 1n, balance: 0n, codeHash: state.putCode(code) });
    const message = testMessage({ to: contract, gas: 3_000_000n });
    const spend = () => assert.equal(evm.execute(message, testBlock(), state, options).halt?.kind, "outOfGas");
    for (let i = 0; i < 3; i++) spend();
    assert.equal(asked(), 0);
    spend();
    assert.equal(asked(), 1);
  }
});

test("calls with a step tracer and init code stay with the interpreter", () => {
  const { compiler, asked } = countingCompiler();
  const evm = createEvm({ tier: { compiler, hotGasPerByte: 0 } });
  call(evm, LOOP, { tracer: { onStep: () => {} } });
  assert.equal(asked(), 0);
  const state = createWorldState(createMemoryState());
  const createAddress = `0x${"dd".repeat(20)}` as Address;
  const message = testMessage({ to: null, createAddress, data: LOOP });
  assert.equal(evm.execute(message, testBlock(), state).outcome, "success");
  assert.equal(asked(), 0);
  call(evm, LOOP);
  assert.equal(asked(), 1);
});

function call(evm: ReturnType<typeof createEvm>, code: Uint8Array, options?: ExecuteOptions): void {
  const state = createWorldState(createMemoryState());
  state.setAccount(contract, { nonce: 1n, balance: 0n, codeHash: state.putCode(code) });
  const { outcome } = evm.execute(testMessage({ to: contract }), testBlock(), state, options);
  assert.equal(outcome, "success");
}

/** Has no module for any code. */
function countingCompiler(): { readonly compiler: ContractCompiler; asked(): number } {
  let count = 0;
  const compiler: ContractCompiler = {
    has: () => false,
    dropped: 0,
    moduleOf() {
      count++;
      return undefined;
    },
  };
  return { compiler, asked: () => count };
}

test("code too large to be compiled runs in the interpreter also where tiers are to be changed", () => {
  const evm = createEvm({ tier: compileAtOnce({ alternates: true }) });
  // 20,000 blocks, and a revert at the end.
  const code = new Uint8Array(20_005).fill(0x5b);
  code.set([0x5f, 0x5f, 0xfd], 20_000);
  const state = createWorldState(createMemoryState());
  state.setAccount(contract, { nonce: 1n, balance: 0n, codeHash: state.putCode(code) });
  assert.equal(evm.execute(testMessage({ to: contract }), testBlock(), state).outcome, "revert");
});

test("an engine lets go of modules that the compiler has dropped, and asks again", () => {
  const { compiler } = compileAtOnce();
  const known = new Set<string>();
  let dropped = 0;
  const dropping: ContractCompiler = {
    moduleOf(hash, ...rest) {
      known.add(hash);
      return compiler.moduleOf(hash, ...rest);
    },
    has: (hash) => known.has(hash),
    get dropped() {
      return dropped;
    },
  };
  const evm = createEvm({ tier: { compiler: dropping, hotGasPerByte: 0 } });
  call(evm, LOOP);
  assert.equal(known.size, 1);
  known.clear();
  call(evm, LOOP);
  assert.equal(known.size, 0, "the instance runs without a question");
  dropped++;
  for (let i = 0; i < 10; i++) call(evm, LOOP);
  assert.equal(known.size, 1);
});
