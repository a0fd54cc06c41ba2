import assert from "node:assert/strict";
import { test } from "node:test";
import { keccak_256 } from "@noble/hashes/sha3.js";
import fc from "../../../../../test/support/fast-check.ts";
import { ModuleBuilder } from "../../../../base/wasm/module.ts";
import { FRAMES } from "../../memory/layout.ts";
import { LinearMemory } from "../../memory/linear-memory.ts";
import { defineKeccak, defineKeccakOfPair } from "./copies.ts";

const LENGTH_MAX = 1_000;
const BYTES = FRAMES;
const TARGET = BYTES + LENGTH_MAX;

const memory = new LinearMemory();
const { keccak, keccakOfPair } = instantiate();

function instantiate() {
  const module = new ModuleBuilder();
  const hash = defineKeccak(module);
  module.export("keccak", hash);
  module.export("keccakOfPair", defineKeccakOfPair(module, hash));
  const imports = { host: { memory: memory.memory } };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.bytes()), imports);
  return exports as {
    keccak(bytes: number, size: number, target: number): void;
    keccakOfPair(bytes: number, target: number): void;
  };
}

/** The word at TARGET, most significant byte first. */
function digest(): Uint8Array {
  return memory.bytes.slice(TARGET, TARGET + 32).reverse();
}

test("keccak of messages of every length from 0 to 1,000 is noble's", () => {
  for (let length = 0; length <= LENGTH_MAX; length++) {
    const message = Uint8Array.from({ length }, (_, i) => (i * 167 + length * 31) & 0xff);
    memory.bytes.set(message, BYTES);
    keccak(BYTES, length, TARGET);
    assert.deepEqual(digest(), keccak_256(message), `${length} bytes`);
  }
});

test("keccak of random messages is noble's", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (message) => {
      memory.bytes.set(message, BYTES);
      keccak(BYTES, message.length, TARGET);
      assert.deepEqual(digest(), keccak_256(message));
    }),
    { numRuns: 500 },
  );
});

test("keccakOfPair is noble's, also when it was computed before or another pair has its place", () => {
  // More pairs than places.
  for (let turn = 0; turn < 2; turn++) {
    for (let n = 0; n < 5_000; n++) {
      const pair = new Uint8Array(64);
      new DataView(pair.buffer).setUint32(n % 60, n * 2_654_435_761);
      memory.bytes.set(pair, BYTES);
      keccakOfPair(BYTES, TARGET);
      assert.deepEqual(digest(), keccak_256(pair), `pair ${n}`);
    }
  }
});
