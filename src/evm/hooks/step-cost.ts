import { WARM_ACCESS_GAS } from "../../params/gas.ts";
import { isAtLeast } from "../../params/hardforks.ts";
import type { Halt } from "../halts.ts";
import { frame, globals } from "../memory/layout.ts";
import type { Interpreter } from "../modules/interpreters.ts";
import { opcodesOf } from "../opcodes.ts";
import { LinearMemoryExhausted, type Session } from "../session.ts";

/** Thrown through the emitted code: the measured opcode has paid everything. */
export class StepPriced extends Error {}

/** More than any opcode costs, and far from the ends of 64 bits. */
const PLENTY = 1n << 61n;

/** Memory a measured opcode may grow by: what costs more is known from the first attempt. */
const GROWTH_MAX = 1 << 20;

/** Opcodes whose warm access geth charges before it looks at anything else. */
const ACCESS_FIRST: ReadonlySet<string> = new Set([
  ...["BALANCE", "EXTCODESIZE", "EXTCODEHASH", "EXTCODECOPY"],
  ...["CALL", "CALLCODE", "DELEGATECALL", "STATICCALL"],
]);

/**
 * What the opcode that halted the running frame costs, in gas: its static part where it did not get further, else all of it, as
 * geth's tracers show it. The frame is over: what the attempt left in the undo log goes, and so does what pricing leaves.
 */
export function costOfHaltedStep(session: Session, halt: Halt, interpreter: Interpreter): bigint {
  const { memory } = session;
  const gas = memory.get64(globals.stepGas);
  const staticCost = staticCostOf(session);
  if (halt.kind !== "outOfGas" || halt.reason !== undefined || gas < staticCost) return staticCost;
  const attempted = gas - BigInt.asIntN(64, memory.get64(frame.gas));
  return pricedAgain(session, interpreter) ?? attempted;
}

/** geth counts all of their gas as depending on the operands. */
const WHOLLY_DYNAMIC = /^(?:LOG\d?|EXP)$/;

function staticCostOf({ memory, rules }: Session): bigint {
  const opcode = opcodesOf(rules.hardfork)[memory.bytes[memory.get32(frame.pc)]!];
  if (opcode === undefined) return 0n;
  if (isAtLeast(rules.hardfork, "berlin") && ACCESS_FIRST.has(opcode.name)) return WARM_ACCESS_GAS;
  return WHOLLY_DYNAMIC.test(opcode.name) ? 0n : BigInt(opcode.gas);
}

/** Runs the opcode once more with gas for everything; undefined where it asks for too much memory. */
function pricedAgain(session: Session, interpreter: Interpreter): bigint | undefined {
  const { memory, journal } = session;
  const gas = memory.get64(globals.stepGas);
  const memorySize = memory.get32(globals.stepMemorySize);
  const memoryLimit = memory.get32(globals.memoryLimit);
  journal.revert(memory.get32(globals.stepUndoTop));
  memory.copy64(globals.refund, globals.stepRefund);
  memory.set64(frame.gas, PLENTY);
  memory.set32(frame.memorySize, memorySize);
  const end = memory.get32(frame.memory) + memorySize + memory.get32(frame.returnDataSize);
  memory.set32(globals.memoryLimit, Math.min(memoryLimit, end + GROWTH_MAX));
  session.isPricing = true;
  try {
    interpreter.run();
    return undefined;
  } catch (error) {
    if (error instanceof LinearMemoryExhausted) return undefined;
    if (!(error instanceof StepPriced)) throw error;
    return memory.get64(globals.stepCost);
  } finally {
    memory.refresh();
    session.isPricing = false;
    memory.set32(globals.memoryLimit, memoryLimit);
    memory.set64(globals.stepGas, gas);
    journal.revert(memory.get32(globals.stepUndoTop));
    memory.copy64(globals.refund, globals.stepRefund);
  }
}
