/** `npm run docs:examples`: records the examples of docs/rpc/ anew; those of networks where `cometbft` is on PATH. */
import { spawnSync } from "node:child_process";
import { readExamples, writeExamples } from "./examples/answers.ts";
import { recordExamples } from "./examples/record.ts";
import { recordNetworkExamples } from "./examples/record-network.ts";

const known = readExamples();
writeExamples(await recordExamples({ slow: true }), known);
if (spawnSync("cometbft", ["version"]).error) console.log("no cometbft on PATH: its examples stay as they are");
else writeExamples(await recordNetworkExamples(), readExamples());
console.log(`${readExamples().size} examples`);
