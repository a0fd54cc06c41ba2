import { test } from "node:test";
import { recordNetworkExamples } from "../../scripts/examples/record-network.ts";
import { assertExamplesFit } from "../docs/recorded-examples.ts";
import { whyLeftOut } from "./network.ts";

test("a network answers the examples of its methods as recorded, but for values", { skip: whyLeftOut() }, async () => {
  assertExamplesFit(await recordNetworkExamples());
});
