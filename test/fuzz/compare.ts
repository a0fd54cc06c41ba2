import type { Evm } from "../../src/evm/machine/evm.ts";
import { bordersOf, reconnoitre } from "./borders.ts";
import type { FuzzCase } from "./case.ts";
import { difference, runScene, type Scene, sceneOf } from "./run.ts";

/** A case on which two engines differ, with the gas they were given. */
export type Finding = { readonly fuzzCase: FuzzCase; readonly difference: string };

export type Comparison = {
  /** Executions both engines did; up to and with the one in which they differ. */
  readonly executions: number;
  readonly finding?: Finding;
};

/**
 * Runs `fuzzCase` on both engines with its own gas, then at the borders of what `a` used, up to the first difference.
 * @param options.limits tries only so many gas limits
 */
export function compareEngines(
  fuzzCase: FuzzCase,
  a: Evm,
  b: Evm,
  { limits, ...options }: { readonly withSteps?: boolean; readonly limits?: number } = {},
): Comparison {
  const scene = sceneOf(fuzzCase);
  let executions = 0;
  for (const gas of [...bordersOf(reconnoitre(scene, a))].slice(0, limits)) {
    executions++;
    const text = differenceIn(scene, a, b, { ...options, gas });
    if (text === undefined) continue;
    return {
      executions,
      finding: { fuzzCase: { ...fuzzCase, gas: gas.toString() }, difference: text },
    };
  }
  return { executions };
}

/** As `compareEngines`, with the case's own gas only. */
export function differenceAt(
  fuzzCase: FuzzCase,
  a: Evm,
  b: Evm,
  options: { readonly withSteps?: boolean } = {},
): Finding | undefined {
  const text = differenceIn(sceneOf(fuzzCase), a, b, options);
  return text === undefined ? undefined : { fuzzCase, difference: text };
}

function differenceIn(
  scene: Scene,
  a: Evm,
  b: Evm,
  options: { readonly withSteps?: boolean; readonly gas?: bigint },
): string | undefined {
  // With a deadline an engine may account for gas in another way: half of the runs of one of them have one, never reached.
  const hasDeadline = (options.gas ?? scene.message.gas) % 2n === 0n;
  const left = hasDeadline ? withDeadline(a) : a;
  return difference(runScene(scene, left, options), runScene(scene, b, options));
}

function withDeadline(evm: Evm): Evm {
  return {
    execute: (message, block, state, options) =>
      evm.execute(message, block, state, { ...options, deadlineMs: Number.MAX_SAFE_INTEGER }),
  };
}
