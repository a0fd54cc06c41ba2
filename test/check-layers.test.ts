import assert from "node:assert/strict";
import { test } from "node:test";
import { checkLayers, circles } from "../scripts/check-layers.ts";

test("circles names the files of every circle, and none where files only share an import", () => {
  const diamond = new Map([
    ["a", ["b", "c"]],
    ["b", ["d"]],
    ["c", ["d"]],
    ["d", []],
  ]);
  assert.deepEqual(circles(diamond), []);
  assert.deepEqual(circles(new Map([...diamond, ["d", ["b"]]])), [["b", "d", "b"]]);
  assert.deepEqual(circles(new Map([["a", ["a"]]])), [["a", "a"]]);
});

test("checkLayers names an import of a later room, an unknown room and folders that import each other", () => {
  const imports = new Map([
    ["base/hex.ts", ["rpc/codec.ts"]],
    ["rpc/codec.ts", []],
    ["attic/old.ts", []],
    ["rpc/methods/eth/logs.ts", ["rpc/methods/json/log.ts"]],
    ["rpc/methods/json/log.ts", []],
    ["rpc/methods/json/block.ts", ["rpc/methods/eth/blocks.ts"]],
    ["rpc/methods/eth/blocks.ts", []],
  ]);
  assert.deepEqual(checkLayers(imports), [
    "base/hex.ts: base must not import rpc (rpc/codec.ts)",
    'attic/old.ts: "attic" is not in the list of rooms',
    "circle in rpc/methods: eth -> json -> eth",
  ]);
});

test("the files of src keep the order of rooms, and no folder has a circle", () => {
  assert.deepEqual(checkLayers(), []);
});
