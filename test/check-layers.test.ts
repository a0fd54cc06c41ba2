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

test("the files of src keep the order of layers and have no circle", () => {
  assert.deepEqual(checkLayers(), []);
});
