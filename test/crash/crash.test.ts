import assert from "node:assert/strict";
import { test } from "node:test";
import { IS_NIGHTLY } from "../support/nightly.ts";
import { crashStore } from "./crash.ts";

test("a store killed at every step of an append, and at any moment, loses nothing it acknowledged", async () => {
  // Every fail-point once, at night twice, and some moments in between; run.ts takes any number.
  const wanted = IS_NIGHTLY ? 29 : 17;
  const { kills, blocks } = await crashStore(wanted, 20_251_121);
  assert.ok(kills === wanted && blocks > 3 * wanted, `${blocks} blocks`);
});

test("the same without LMDB, where the index is in memory and the log alone on disk", async () => {
  const wanted = IS_NIGHTLY ? 16 : 7;
  const { kills, blocks } = await crashStore(wanted, 20_261_122, "memory");
  assert.ok(kills === wanted && blocks > 3.2 * wanted, `${blocks} blocks`);
});

test("the same while old blocks are removed", async () => {
  const wanted = IS_NIGHTLY ? 12 : 7;
  const { kills, blocks, oldest } = await crashStore(wanted, 20_261_123, "retention");
  assert.ok(kills === wanted && oldest > 5 * wanted, `blocks ${oldest} to ${blocks}`);
});
