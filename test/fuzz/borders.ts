import type { Evm } from "../../src/evm/machine/evm.ts";
import type { Step } from "../../src/evm/machine/tracer.ts";
import { createRandom } from "./random.ts";
import { runScene, type Scene } from "./run.ts";

/** How one execution went: what it was given, what it used, and the gas its opcodes had before them. */
export type Reconnaissance = {
  readonly gas: bigint;
  readonly gasUsed: bigint;
  readonly steps: readonly Pick<Step, "gas" | "depth">[];
};

/** A long loop shows nothing new; one program in this many may still run longer. */
const STEPS_MAX = 2000;
const LONG_RUNS = 50;
const LONG_STEPS_MAX = 50_000;

/** Opcodes whose gas borders are tried, and one program in so many where that is done for every opcode. */
const OPCODES_PER_PROGRAM = 8;
const THOROUGH_RUNS = 16;
const THOROUGH_OPCODES_MAX = 150;

/** Thrown by a tracer to leave a run that takes too long. */
class TooLong extends Error {}

/** Runs `scene` opcode by opcode on `evm`; with less gas than it asks for where it would not end soon. */
export function reconnoitre(scene: Scene, evm: Evm): Reconnaissance {
  const random = createRandom(Number(scene.message.gas));
  const stepsMax = random.chance(1 / LONG_RUNS) ? LONG_STEPS_MAX : STEPS_MAX;
  for (let { gas } = scene.message; ; gas /= 3n) {
    const steps: Pick<Step, "gas" | "depth">[] = [];
    const onStep = ({ gas, depth }: Step) => {
      if (steps.length >= stepsMax) throw new TooLong();
      steps.push({ gas, depth });
    };
    const watched: Evm = {
      execute: (message, block, state) => evm.execute(message, block, state, { tracer: { onStep } }),
    };
    try {
      const { gasUsed } = runScene(scene, watched, { gas });
      return { gas, gasUsed, steps };
    } catch (error) {
      if (!(error instanceof TooLong)) throw error;
    }
  }
}

/**
 * Gas limits worth trying: what was given and used, and those with which an opcode is just reached, or just not. Where a run was
 * long only the first few.
 */
export function bordersOf({ gas, gasUsed, steps }: Reconnaissance): Set<bigint> {
  const random = createRandom(Number(gasUsed) + steps.length);
  const borders = [gas, gasUsed, gasUsed - 1n, gasUsed - 2300n, BigInt(random.int(Number(gasUsed) + 1))];
  if (steps.length < STEPS_MAX) {
    const isThorough = steps.length <= THOROUGH_OPCODES_MAX && random.chance(1 / THOROUGH_RUNS);
    const chosen = isThorough
      ? steps
      : Array.from({ length: steps.length === 0 ? 0 : OPCODES_PER_PROGRAM }, () => random.pick(steps));
    for (const step of chosen) {
      const border = gas - gasAtTop(step);
      borders.push(border, border - 1n);
      if (isThorough) borders.push(border + 1n);
    }
  }
  return new Set(borders.filter((each) => each >= 0n));
}

/** How much less gas at depth 0 takes `gas` away at `depth`: each call withholds a 64th (EIP-150), unless it names an amount. */
function gasAtTop({ gas, depth }: Pick<Step, "gas" | "depth">): bigint {
  let atTop = gas;
  for (let i = 0; i < depth; i++) atTop = (atTop * 64n + 62n) / 63n;
  return atTop;
}
