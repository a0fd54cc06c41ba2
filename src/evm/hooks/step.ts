import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Halt } from "../halts.ts";
import { flag, frame, globals, record, TRACE_KEY, WORD } from "../memory/layout.ts";
import { ACCESS_OPCODES } from "../opcodes.ts";
import { accountOf, type Session } from "../session.ts";
import type { AccessStep, Step, StepAccount } from "../tracer.ts";

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
function opcodeOf({ memory }: Session): number {
  return memory.bytes[memory.get32(frame.pc)]!;
}

/**
 * The opcode at `frame.pc` as the step hook sees it: paid for, not yet run. Stack, memory, return data and state are read when
 * asked for: while the hook runs, or in `onExit` of the same frame.
 */
function stepOf(session: Session, halt?: Halt): Step {
  return new RunningStep(session, halt);
}

class RunningStep implements Step {
  readonly pc: number;
  readonly opcode: number;
  readonly gas: bigint;
  readonly gasCost: bigint;
  readonly depth: number;
  readonly address: Address;
  readonly refund: bigint;
  declare readonly halt?: Halt;
  readonly #session: Session;
  /** An opcode that fails has already taken its operands from the stack. */
  readonly stackTop: number;

  constructor(session: Session, halt: Halt | undefined) {
    const { memory, records, depth } = session;
    const pc = memory.get32(frame.pc);
    this.pc = pc - memory.get32(frame.code);
    this.opcode = memory.bytes[pc]!;
    this.gas = memory.get64(globals.stepGas);
    this.gasCost = memory.get64(globals.stepCost);
    this.depth = depth;
    this.address = records.addressOf(memory.get32(frame.account));
    this.refund = BigInt.asIntN(64, memory.get64(globals.refund));
    if (halt !== undefined) this.halt = halt;
    this.#session = session;
    this.stackTop = memory.get32(frame.sp);
  }

  get bytes(): Uint8Array {
    return this.#session.memory.bytes;
  }

  get memoryBegin(): number {
    return this.#session.memory.get32(frame.memory);
  }

  stackLength(): number {
    return (this.#session.memory.get32(frame.stackBase) - this.stackTop) / WORD;
  }

  stackWord(index: number): bigint {
    return this.#session.memory.word(this.stackTop + index * WORD);
  }

  stack(): bigint[] {
    const words: bigint[] = [];
    for (let index = this.stackLength() - 1; index >= 0; index--) words.push(this.stackWord(index));
    return words;
  }

  memoryLength(): number {
    return this.#session.memory.get32(globals.stepMemorySize);
  }

  memory(begin = 0, end = this.memoryLength()): Uint8Array {
    const { memory } = this.#session;
    const start = memory.get32(frame.memory);
    return memory.copy(start + begin, end - begin);
  }

  returnData(): Uint8Array {
    const { memory } = this.#session;
    const begin = memory.get32(frame.returnData);
    return memory.copy(begin, memory.get32(frame.returnDataSize));
  }

  storage(slot: Hash, address?: Address): bigint {
    const { memory, journal } = this.#session;
    const account =
      address === undefined ? memory.get32(frame.account) : accountOf(this.#session, address);
    memory.setHex(TRACE_KEY, slot);
    return memory.word(journal.find(account, TRACE_KEY) + record.value);
  }

  account(address: Address): StepAccount | undefined {
    const { memory, codes } = this.#session;
    const entry = accountOf(this.#session, address);
    if ((memory.get32(entry + record.flags) & flag.exists) === 0) return undefined;
    return {
      balance: memory.word(entry + record.value),
      nonce: memory.get64(entry + record.nonce),
      code: codes.byId(memory.get32(entry + record.codeId)).bytes,
    };
  }
}
