import type { Evm } from "../../src/evm/evm.ts";
import type { FuzzCase } from "./case.ts";
import { createRandom } from "./random.ts";
import { difference, runCase } from "./run.ts";

/** A case on which two engines differ, with the gas they were given. */
export type Finding = { readonly fuzzCase: FuzzCase; readonly difference: string };

/**
 * Runs `fuzzCase` on both engines, then again with gas at the borders of what it used; the first run in which they differ, or
 * undefined.
 */
export function compareEngines(
  fuzzCase: FuzzCase,
  a: Evm,
  b: Evm,
  options: { readonly withSteps?: boolean } = {},
): Finding | undefined {
  const { gasUsed } = runCase(fuzzCase, a);
  const random = createRandom(Number(gasUsed));
  const given = BigInt(fuzzCase.gas);
  const borders = [
    given,
    gasUsed,
    gasUsed - 1n,
    gasUsed - 2300n,
    BigInt(random.int(Number(gasUsed) + 1)),
  ];
  for (const gas of new Set(borders)) {
    if (gas < 0n) continue;
    const found = differenceAt({ ...fuzzCase, gas: gas.toString() }, a, b, options);
    if (found) return found;
  }
  return undefined;
}

/** As `compareEngines`, with the case's own gas only. */
export function differenceAt(
  fuzzCase: FuzzCase,
  a: Evm,
  b: Evm,
  options: { readonly withSteps?: boolean } = {},
): Finding | undefined {
  const text = difference(runCase(fuzzCase, a, options), runCase(fuzzCase, b, options));
  return text === undefined ? undefined : { fuzzCase, difference: text };
}
