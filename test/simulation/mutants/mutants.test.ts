import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { MutantHunter } from "../runner/mutant-hunt.ts";
import { ALL_MUTANTS } from "./all-mutants.ts";
import { readKnownSeeds } from "./known-seeds.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The cheapest of the store and of the pool: `npm run simulate -- --mutants all` has all of them. */
const NAMES = ["log-record-not-synced", "journal-not-read"];

let hunter: MutantHunter;

before(async () => {
  hunter = await MutantHunter.open(ROOT);
});

after(() => hunter.close());

for (const name of NAMES) {
  test(`MutantHunter finds a seed that shows ${name}`, async () => {
    const mutant = ALL_MUTANTS.find((each) => each.name === name)!;
    const { seed, others } = await hunter.hunt(mutant, readKnownSeeds(ROOT)[name]?.seed);
    assert.ok(seed !== undefined, `not caught; other violations: ${others.join("; ")}`);
  });
}
