import { test } from "node:test";
import { recordExamples } from "../../scripts/examples/record.ts";
import { assertExamplesFit } from "./recorded-examples.ts";

test("a node answers the examples that take seconds as recorded, but for values", async () => {
  assertExamplesFit(await recordExamples({ slow: true }));
});
