import { COLD_ACCOUNT_ACCESS_AMSTERDAM_GAS, WARM_ACCESS_GAS } from "../../../base/params/gas.ts";
import { RULES_AT } from "../../../base/params/hardforks.ts";
import { type Address, ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Halt } from "../halts.ts";
import { flag, frame, globals, record, TRACE_KEY, WORD } from "../memory/layout.ts";
import type { Interpreter } from "../modules/interpreters.ts";
import { ACCESS_OPCODES, opcodesOf } from "../opcodes.ts";
import { accountOf, LinearMemoryExhausted, type Session } from "../session.ts";
import type { AccessStep, Step, StepAccount } from "../tracer.ts";
import { SELFDESTRUCT } from "./frame-table.ts";

/** Thrown through the emitted code: the measured opcode has paid everything. */
export class StepPriced extends Error {}

/** More than any opcode costs, and far from the ends of 64 bits. */
const PLENTY = 1n << 61n;

/** Opcodes whose warm access geth charges before it looks at anything else. */
const ACCESS_FIRST: ReadonlySet<string> = new Set([
  "BALANCE",
  "EXTCODESIZE",
  "EXTCODEHASH",
  "EXTCODECOPY",
  "CALL",
  "CALLCODE",
  "DELEGATECALL",
  "STATICCALL",
]);

/**
 * What the opcode that halted the running frame costs, in gas: its static part where it did not get further, else all of it, as
 * geth's tracers show it. The frame is over: what the attempt left in the undo log goes, and so does what pricing leaves.
 */
export function costOfHaltedStep(session: Session, halt: Halt, interpreter: Interpreter): bigint {
  const { memory } = session;
  const gas = memory.get64(globals.stepGas);
  const staticCost = staticCostOf(session);
  if (isColdBeneficiary(session, halt)) return staticCost + COLD_ACCOUNT_ACCESS_AMSTERDAM_GAS;
  if (halt.kind !== "outOfGas" || halt.reason !== undefined || gas < staticCost) return staticCost;
  const attempted = gas - BigInt.asIntN(64, memory.get64(frame.gas));
  return pricedAgain(session, interpreter) ?? attempted;
}

/** geth shows the price of the access that SELFDESTRUCT cannot pay, from Amsterdam on. */
function isColdBeneficiary({ memory, rules }: Session, halt: Halt): boolean {
  const isSelfDestruct = memory.bytes[memory.get32(frame.pc)] === SELFDESTRUCT;
  return rules.eip8037 && isSelfDestruct && halt.kind === "outOfGas" && halt.reason === "out of gas";
}

/** geth counts all of their gas as depending on the operands. */
const WHOLLY_DYNAMIC = /^(?:LOG\d?|EXP)$/;

function staticCostOf({ memory, rules }: Session): bigint {
  const opcode = opcodesOf(rules.hardfork)[memory.bytes[memory.get32(frame.pc)]!];
  if (opcode === undefined) return 0n;
  if (RULES_AT[rules.hardfork].berlin && ACCESS_FIRST.has(opcode.name)) return WARM_ACCESS_GAS;
  if (opcode.name === "SELFDESTRUCT" && !RULES_AT[rules.hardfork].berlin) return 0n;
  return WHOLLY_DYNAMIC.test(opcode.name) ? 0n : BigInt(opcode.gas);
}

/** Runs the opcode once more with gas for everything, without its memory; undefined where no account has room. */
function pricedAgain(session: Session, interpreter: Interpreter): bigint | undefined {
  const { memory, journal } = session;
  const gas = memory.get64(globals.stepGas);
  const memorySize = memory.get32(globals.stepMemorySize);
  const memoryLimit = memory.get32(globals.memoryLimit);
  journal.revert(memory.get32(globals.stepUndoTop));
  memory.copy64(globals.refund, globals.stepRefund);
  memory.set64(frame.gas, PLENTY);
  memory.set32(frame.memorySize, memorySize);
  memory.set32(globals.memoryLimit, 0);
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

/** Calls the step hooks of the tracer that want the opcode at `frame.pc`. */
export function notifyStep(session: Session, halt?: Halt): void {
  const { tracer } = session;
  if (!tracer) return;
  if (tracer.onStep !== undefined) {
    session.step ??= new RunningStep(session);
    session.step.begin(halt);
    tracer.onStep(session.step);
  }
  if (tracer.onAccessStep !== undefined && ACCESS_OPCODES.has(opcodeOf(session))) {
    tracer.onAccessStep(new EngineAccessStep(session, halt));
  }
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
 * The opcode at `frame.pc` as the step hook sees it: paid for, not yet run. Stack, memory, return data and state are read lazily,
 * while the hook runs or in `onExit` of the same frame. One object serves an execution: millions of steps would create as many.
 */
class RunningStep implements Step {
  pc = 0;
  opcode = 0;
  gasNumber = 0;
  gasCostNumber = 0;
  depth = 0;
  address = ZERO_ADDRESS;
  refund = 0n;
  halt: Halt | undefined;
  /** An opcode that fails has already taken its operands from the stack. */
  stackTop = 0;
  readonly #session: Session;
  /** Beyond 2^53. */
  #exactGas = 0n;
  #exactGasCost = 0n;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The next step. */
  begin(halt: Halt | undefined): void {
    const { memory, records, depth } = this.#session;
    const pc = memory.get32(frame.pc);
    this.pc = pc - memory.get32(frame.code);
    this.opcode = memory.bytes[pc]!;
    this.gasNumber = memory.number64(globals.stepGas);
    this.gasCostNumber = memory.number64(globals.stepCost);
    if (this.gasNumber > Number.MAX_SAFE_INTEGER) this.#exactGas = memory.get64(globals.stepGas);
    if (this.gasCostNumber > Number.MAX_SAFE_INTEGER) this.#exactGasCost = memory.get64(globals.stepCost);
    this.depth = depth;
    this.address = records.addressOf(memory.get32(frame.account));
    this.refund = memory.isZero64(globals.refund) ? 0n : BigInt.asIntN(64, memory.get64(globals.refund));
    this.halt = halt;
    this.stackTop = memory.get32(frame.sp);
  }

  get gas(): bigint {
    return this.gasNumber > Number.MAX_SAFE_INTEGER ? this.#exactGas : BigInt(this.gasNumber);
  }

  get gasCost(): bigint {
    return this.gasCostNumber > Number.MAX_SAFE_INTEGER ? this.#exactGasCost : BigInt(this.gasCostNumber);
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
    const account = address === undefined ? memory.get32(frame.account) : accountOf(this.#session, address);
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
