import type { Address } from "../primitives/address.ts";
import type { Halt } from "./halts.ts";
import { frame, globals, record, TRACE_KEY, WORD } from "./layout.ts";
import { ACCESS_OPCODES } from "./opcodes.ts";
import type { Session } from "./session.ts";
import type { AccessStep, Step } from "./tracer.ts";

/** Calls the step hooks of the tracer that want the opcode at `frame.pc`. */
export function notifyStep(session: Session, halt?: Halt): void {
  const { tracer } = session;
  if (!tracer) return;
  const isAccess = ACCESS_OPCODES.has(opcodeOf(session));
  if (!tracer.onStep && !(isAccess && tracer.onAccessStep)) return;
  tracer.onStep?.(stepOf(session, halt));
  if (isAccess) tracer.onAccessStep?.(new EngineAccessStep(session, halt));
}

/** Without closures: there is one for each access of a traced block. */
class EngineAccessStep implements AccessStep {
  readonly #session: Session;
  readonly opcode: number;
  readonly halt: Halt | undefined;

  constructor(session: Session, halt: Halt | undefined) {
    this.#session = session;
    this.opcode = opcodeOf(session);
    this.halt = halt;
  }

  get address(): Address {
    const { memory, records } = this.#session;
    return records.addressOf(memory.get32(frame.account));
  }

  get stackHeight(): number {
    const { memory } = this.#session;
    return (memory.get32(frame.stackBase) - memory.get32(frame.sp)) / WORD;
  }

  operand(n: number): bigint {
    const { memory } = this.#session;
    return memory.word(memory.get32(frame.sp) + n * WORD);
  }
}

/** The opcode at `frame.pc`. */
export function opcodeOf({ memory }: Session): number {
  return memory.bytes[memory.get32(frame.pc)]!;
}

/**
 * The opcode at `frame.pc` as the step hook sees it: paid for, not yet run. Stack, memory and return data are read when
 * asked for, so only while the hook runs.
 */
function stepOf({ memory, records, journal, depth }: Session, halt?: Halt): Step {
  const pc = memory.get32(frame.pc);
  const step: Step = {
    pc: pc - memory.get32(frame.code),
    opcode: memory.bytes[pc]!,
    gas: memory.get64(globals.stepGas),
    gasCost: memory.get64(globals.stepCost),
    depth,
    address: records.addressOf(memory.get32(frame.account)),
    stack: () => {
      const words: bigint[] = [];
      const top = memory.get32(frame.sp);
      for (let at = memory.get32(frame.stackBase) - WORD; at >= top; at -= WORD) {
        words.push(memory.word(at));
      }
      return words;
    },
    memory: () => {
      const begin = memory.get32(frame.memory);
      return memory.bytes.slice(begin, begin + memory.get32(globals.stepMemorySize));
    },
    returnData: () => {
      const begin = memory.get32(frame.returnData);
      return memory.bytes.slice(begin, begin + memory.get32(frame.returnDataSize));
    },
    storage: (slot) => {
      memory.setHex(TRACE_KEY, slot);
      const entry = journal.find(memory.get32(frame.account), TRACE_KEY);
      return memory.word(entry + record.value);
    },
    refund: BigInt.asIntN(64, memory.get64(globals.refund)),
  };
  return halt === undefined ? step : { ...step, halt };
}
