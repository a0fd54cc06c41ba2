import assert from "node:assert/strict";
import { test } from "node:test";
import { emitInterpreter } from "../gen/interpreter.ts";
import { rulesOf } from "../rules.ts";
import { emitStoredInterpreters } from "./emit-stored-interpreters.ts";
import { type Seed, seededModule, TEMPLATE_SEED } from "./interpreters.ts";

const stored = Buffer.from(emitStoredInterpreters()["osaka fast"]!, "base64");
const emit = (seed: Seed) => emitInterpreter(rulesOf("osaka"), "fast", seed);

test("seededModule makes of the stored interpreter the one that the seed would have made", () => {
  // Constants of the longest form, positive and negative.
  const seed: Seed = [2n ** 62n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 63n + 2n ** 61n];
  assert.deepEqual(seededModule(stored, seed), emit(seed));
});

test("seededModule pads shorter constants: the module is valid, and as long for every seed", () => {
  const seed: Seed = [0n, 5n, 2n ** 64n - 1n, 2n ** 40n];
  const bytes = seededModule(stored, seed);
  assert.equal(bytes.length, stored.length);
  assert.doesNotThrow(() => new WebAssembly.Module(bytes));
  assert.notDeepEqual(bytes, new Uint8Array(stored));
  assert.ok(emit(seed).length < stored.length);
  assert.deepEqual(seededModule(stored, TEMPLATE_SEED), new Uint8Array(stored));
});
