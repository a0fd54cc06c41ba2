/**
 * Every precompile on its worst inputs: time for the gas it costs, with the 100 gas of the CALL that a contract pays as well, and
 * the longest time between two checks of the deadline.
 */

import { WARM_ACCESS_GAS } from "../../src/base/params/gas.ts";
import type { Hardfork } from "../../src/base/params/hardforks.ts";
import { precompilesAt } from "../../src/evm/machine/precompiles/index.ts";
import type { Precompile } from "../../src/evm/machine/state-port.ts";
import { cpuMs, leastMs } from "./cpu-time.ts";
import { type WorstInput, worstInputs } from "./precompile-inputs.ts";

export type PrecompileRow = {
  readonly fork: Hardfork;
  readonly precompile: string;
  readonly input: string;
  readonly gas: number;
  readonly "ns/gas": number;
  /** Milliseconds. */
  readonly stretch: number;
};

/** Rows of `fork`, slowest for its gas first. */
export function precompileRows(fork: Hardfork): PrecompileRow[] {
  const byName = new Map([...precompilesAt(fork).values()].map((each) => [each.name, each]));
  return inputs()
    .filter(({ name }) => byName.has(name))
    .map((each) => measure(fork, byName.get(each.name)!, each))
    .sort((a, b) => b["ns/gas"] - a["ns/gas"]);
}

function measure(fork: Hardfork, precompile: Precompile, { label, input }: WorstInput) {
  const gas = Number(precompile.gas(input) + WARM_ACCESS_GAS);
  const ms = leastMs(() => precompile.run(input));
  return {
    fork,
    precompile: precompile.name,
    input: label,
    gas,
    "ns/gas": Number(((ms * 1e6) / gas).toFixed(1)),
    stretch: Number(longestStretch(precompile, input).toFixed(2)),
  };
}

function longestStretch(precompile: Precompile, input: Uint8Array): number {
  let last = cpuMs();
  let longest = 0;
  const look = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  precompile.run(input, look);
  look();
  return longest;
}

function inputs(): WorstInput[] {
  const newest = new Map([...precompilesAt("osaka").values()].map((each) => [each.name, each]));
  return worstInputs((name, input) => {
    const output = newest.get(name)!.run(input);
    return output instanceof Uint8Array && output.length > 0;
  });
}
