/** The recorded examples, in a file of their own: docs/rpc/ is generated of it. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Example, type Examples, shapeFault } from "./recorder.ts";

const FILE = fileURLToPath(new URL("answers.json", import.meta.url));

/** Their answers are measured, or of random keys and blocks: a new recording changes them for no reason. */
const VARYING =
  /^(?:debug_(?:memStats|gcStats|stacks|printBlock|chaindbProperty)|admin_nodeInfo|eth_config|eth_compile\w+|les_\w+|shh_\w+|personal_\w+|testing_\w+|clique_getSnapshot|anvil_nodeInfo|\w+_mine_detailed|eth_subscribe|eth_getFilter\w+|eth_sendRawTransactionSync|eth_simulateV1|wallet_getCallsStatus|web3_clientVersion|\w+_metadata|\w+_dumpState)$/;

export function readExamples(): Examples {
  return new Map(Object.entries(JSON.parse(readFileSync(FILE, "utf8")) as Record<string, Example>));
}

/** Adds `recorded` to the file; what it lacks stays, and so do varying answers whose form is the same. */
export function writeExamples(recorded: Examples, known: Examples): void {
  const examples = new Map(known);
  for (const [name, example] of recorded) {
    const before = known.get(name);
    const isSame = (VARYING.test(name) || example.on === "CometBFT") && before && !shapeFault(before, example);
    examples.set(name, isSame ? before : example);
  }
  const sorted = [...examples].sort(([a], [b]) => (a < b ? -1 : 1));
  // One line for each method: a change shows what it is of.
  const lines = sorted.map(([name, example]) => `${JSON.stringify(name)}: ${JSON.stringify(example)}`);
  writeFileSync(FILE, `{\n${lines.join(",\n")}\n}\n`);
}
