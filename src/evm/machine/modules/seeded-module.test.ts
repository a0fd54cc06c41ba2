import assert from "node:assert/strict";
import { test } from "node:test";
import { emitInterpreter } from "../gen/interpreter.ts";
import type { Build } from "../gen/loop.ts";
import { rulesOf } from "../rules.ts";
import { emitStoredInterpreters, packStoredInterpreters } from "./emit-stored-interpreters.ts";
import { type Seed, seededModule, TEMPLATE_SEED } from "./interpreters.ts";
import { unpackInterpreters } from "./packed-interpreters.ts";

const all = emitStoredInterpreters();
const stored = all["osaka fast"]!;
const emit = (seed: Seed, build: Build = "fast") => emitInterpreter(rulesOf("osaka"), build, seed);

test("seededModule makes of each stored interpreter the one that the seed would have made", () => {
  // Constants of the longest form, positive and negative.
  const seed: Seed = [2n ** 62n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 63n + 2n ** 61n];
  for (const build of ["fast", "perOpcode", "perAccess"] as const) {
    assert.deepEqual(seededModule(all[`osaka ${build}`]!, seed), emit(seed, build), build);
  }
  assert.equal(Object.keys(all).length, 3);
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

test("unpackInterpreters finds each module of packStoredInterpreters, and no other", () => {
  const packed = packStoredInterpreters();
  const find = unpackInterpreters(packed);
  for (const [key, bytes] of Object.entries(all)) assert.deepEqual(new Uint8Array(find(key)!), bytes, key);
  assert.equal(find("prague fast"), undefined);
  assert.equal(find("constructor"), undefined);
  assert.ok(packed.compressed.length < all["osaka fast"]!.length / 2, "compressed together");
});
