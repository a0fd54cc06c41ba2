import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonString } from "../../transport/codec.ts";
import { joinedJson } from "./write.ts";

test("joinedJson joins strings to a string", () => {
  assert.equal(joinedJson("[", "1", ",", "2", "]"), "[1,2]");
  assert.equal(joinedJson(), "");
});

test("joinedJson leaves large pieces as they are and copies short neighbours together", () => {
  const large = new Uint8Array(1 << 20).fill(0x31);
  const short = Buffer.from("2");
  const json = joinedJson("[", [large, short], ",", short, ",", large, "]");
  assert.ok(Array.isArray(json));
  assert.equal(json.length, 5);
  assert.ok(json[1] === large && json[3] === large);
  assert.equal(jsonString(json), `[${"1".repeat(1 << 20)}2,2,${"1".repeat(1 << 20)}]`);
});
