/** The examples of docs/rpc/, against a node of now: names and types of every member of their answers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readExamples } from "../../scripts/examples/answers.ts";
import { recordExamples } from "../../scripts/examples/record.ts";
import { type Example, shapeFault } from "../../scripts/examples/recorder.ts";
import { DEV_METHODS } from "../../src/rpc/methods/dev/methods.ts";
import { METHODS } from "../../src/rpc/methods/methods.ts";
import { assertExamplesFit } from "./recorded-examples.ts";

/** Those that take seconds are recorded by `examples-slow.test.ts`, those of a network by `test/network/examples.test.ts`. */
const ELSEWHERE_MAX = 40;

test("every method has a recorded example, and there are no others", () => {
  const names = [...METHODS, ...DEV_METHODS].map(({ name }) => name).sort();
  assert.deepEqual([...readExamples().keys()].sort(), names);
});

test("a node answers the examples as recorded, but for values", async () => {
  const found = await recordExamples({ slow: false });
  assertExamplesFit(found);
  assert.ok(found.size > readExamples().size - ELSEWHERE_MAX);
});

test("a member that is missing, new or of another type is noticed, another value is not", () => {
  const recorded: Example = { params: [], result: { a: 1, list: [{ b: "x" }, "…"], [`0x${"1".repeat(40)}`]: null } };
  const faultOf = (result: unknown) => shapeFault(recorded, { params: [], result });
  const other = { a: 2, list: [{ b: "y" }, { b: "z" }], [`0x${"2".repeat(40)}`]: null };
  assert.equal(faultOf(other), undefined);
  for (const change of [{ a: "2" }, { list: [{ c: "y" }] }, { list: ["y"] }, { more: 1 }, { a: null }]) {
    assert.ok(faultOf({ ...other, ...change }));
  }
  assert.ok(faultOf({ list: other.list }));
  assert.ok(shapeFault(recorded, { params: [], error: { code: -32000, message: "" } }));
});
