import { SYSTEM_ADDRESS } from "../../src/base/params/gas.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import type { Evm, Message } from "../../src/evm/machine/evm.ts";
import type { Step } from "../../src/evm/machine/tracer.ts";
import { executeCase } from "../conformance/t8n.ts";
import { transactionReaders } from "../conformance/t8n-transactions.ts";
import { generateBlock } from "./generate-block.ts";
import { createRandom, type Random } from "./random.ts";
import type { T8nInput } from "./t8n-oracle.ts";

/** An execution of a transaction: what it was given, and gas and cost of some of its opcodes. */
type Execution = {
  readonly message: Message;
  readonly reservoirLeft: bigint;
  readonly steps: readonly Pick<Step, "gas" | "gasCost" | "depth">[];
};

/** State gas that an opcode may ask for beside its cost: a slot, an account, a delegation, a byte of code (EIP-8037). */
const STATE_GAS = [0n, 0n, 97_920n, 183_600n, 35_190n, 1_530n, 183_600n + 97_920n];
const STEPS_MAX = 100_000;

/**
 * The block of `seed` with other gas limits, with which an opcode has just enough gas, or just not, for its cost, for what the state grows
 * by, or for the stipend that SSTORE leaves; or with which a reservoir is just used up.
 */
export function generateBlockAtBorders(seed: number, fork: string, evm: Evm): T8nInput {
  const random = createRandom(seed ^ 0x51ed270b);
  const input = generateBlock(seed, fork);
  const executions = executionsOf(input, evm);
  const gasLimits = new Map<number, number>();
  for (const [index, read] of transactionReaders(input.txs).entries()) {
    const tx = read();
    const found = executions.findIndex(
      ({ message: { to, value, data } }) =>
        to === tx.to && value === tx.value && bytesToHex(data) === bytesToHex(tx.data),
    );
    if (found === -1 || random.chance(0.3)) continue;
    const [execution] = executions.splice(found, 1);
    const gasLimit = Number(tx.gasLimit - unneeded(execution!, random));
    if (gasLimit > 0) gasLimits.set(index, gasLimit);
  }
  return generateBlock(seed, fork, gasLimits);
}

/** How far the gas limit is above a border. */
function unneeded({ message, reservoirLeft, steps }: Execution, random: Random): bigint {
  const around = BigInt(random.int(3) - 1);
  if ((message.reservoir ?? 0n) > 0n) {
    const stateGas = random.pick(STATE_GAS);
    return reservoirLeft + stateGas + around;
  }
  if (steps.length === 0) return around;
  const { gas, gasCost, depth } = random.pick(steps);
  const wanted = random.weighted([
    [4, gasCost + random.pick(STATE_GAS)],
    [1, 2_300n],
    [1, 2_300n + gasCost],
    [1, 0n],
  ]);
  let above = gas - wanted - around;
  // Each call withholds a 64th (EIP-150).
  for (let i = 0; i < depth; i++) above = (above * 64n + 62n) / 63n;
  return above;
}

function executionsOf(input: T8nInput, evm: Evm): Execution[] {
  const executions: Execution[] = [];
  const watched: Evm = {
    execute(message, block, state, options) {
      const steps: Pick<Step, "gas" | "gasCost" | "depth">[] = [];
      const onStep = ({ gas, gasCost, depth }: Step) => {
        if (steps.length < STEPS_MAX) steps.push({ gas, gasCost, depth });
      };
      const result = evm.execute(message, block, state, { ...options, tracer: { onStep } });
      const isSystem = (message.caller as Address) === SYSTEM_ADDRESS;
      if (!isSystem) executions.push({ message, reservoirLeft: result.reservoirLeft ?? 0n, steps });
      return result;
    },
  };
  executeCase(input, watched);
  return executions;
}
