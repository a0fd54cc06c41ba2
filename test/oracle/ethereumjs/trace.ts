import type { EVM, EVMResult, InterpreterStep, Message as LibraryMessage } from "@ethereumjs/evm";
import { invariant } from "../../../src/base/errors.ts";
import { type Address, addressFromBytes } from "../../../src/base/primitives/address.ts";
import { bigintToFixedBytes, concatBytes, EMPTY_BYTES } from "../../../src/base/primitives/bytes.ts";
import { type Hash, hashFromBigint, ZERO_HASH } from "../../../src/base/primitives/hash.ts";
import type { Message } from "../../../src/evm/machine/evm.ts";
import { ACCESS_OPCODES } from "../../../src/evm/machine/opcodes.ts";
import type { State } from "../../../src/evm/machine/state-port.ts";
import type { FrameStart, Step, Tracer } from "../../../src/evm/machine/tracer.ts";
import { failureOf, haltOf } from "./halt.ts";
import type { LoadedLibrary } from "./library.ts";

const OP = {
  balance: 0x31,
  extCodeSize: 0x3b,
  extCodeCopy: 0x3c,
  extCodeHash: 0x3f,
  sload: 0x54,
  sstore: 0x55,
  log0: 0xa0,
  log4: 0xa4,
  create: 0xf0,
  call: 0xf1,
  callCode: 0xf2,
  delegateCall: 0xf4,
  create2: 0xf5,
  staticCall: 0xfa,
  selfDestruct: 0xff,
} as const;

const FRAME_TYPES: Readonly<Record<number, FrameStart["type"]>> = {
  [OP.create]: "CREATE",
  [OP.call]: "CALL",
  [OP.callCode]: "CALLCODE",
  [OP.delegateCall]: "DELEGATECALL",
  [OP.create2]: "CREATE2",
  [OP.staticCall]: "STATICCALL",
};

type Frame = {
  readonly start: FrameStart;
  readonly isStatic: boolean;
  returnData: Uint8Array;
};

/** A step the library reported, with what will have changed when the tracer gets it. */
type HeldStep = InterpreterStep & {
  readonly slot: readonly [slot: Hash, value: bigint] | undefined;
};

/**
 * Turns the library's events into calls of `tracer`; returns what takes the listeners away again.
 * The library has no event for a call that fails before its frame begins (depth, balance), so those are not reported, and a step's
 * `gasCost` leaves out the gas a call forwards.
 */
export function attachTracer(
  engine: EVM,
  library: LoadedLibrary,
  tracer: Tracer,
  top: Message,
  state: State,
): () => void {
  const frames: Frame[] = [];
  // Whether an opcode fails is known only after it: a step is reported at the next event.
  let held: HeldStep | undefined;

  const tellHeldStep = (halt?: Step["halt"]): void => {
    const step = held;
    held = undefined;
    if (!step) return;
    const told = stepOf(step, frames[step.depth]?.returnData ?? EMPTY_BYTES, halt);
    tracer.onStep?.(told);
    if (!ACCESS_OPCODES.has(told.opcode)) return;
    const stack = told.stack().reverse();
    tracer.onAccessStep?.({
      opcode: told.opcode,
      address: told.address,
      stackHeight: stack.length,
      operand: (n) => stack[n]!,
      halt,
    });
  };

  const onStep = (step: InterpreterStep): void => {
    const before = held;
    tellHeldStep();
    // A call that never became a frame leaves no return data.
    const frame = frames[step.depth];
    if (frame && before?.depth === step.depth && FRAME_TYPES[before.opcode.code]) {
      frame.returnData = EMPTY_BYTES;
    }
    held = { ...step, slot: slotOf(step, state) };
    const affordable = step.gasLeft >= (step.opcode.dynamicFee ?? 0n);
    if (!affordable || frames[step.depth]?.isStatic) return;
    if (step.opcode.code >= OP.log0 && step.opcode.code <= OP.log4) tellLog(step, tracer);
    if (step.opcode.code === OP.selfDestruct) tellSelfDestruct(step, tracer);
  };

  const onEnter = (message: LibraryMessage): void => {
    const caller = held;
    tellHeldStep();
    const start = frameStartOf(message, caller, frames.at(-1)?.start, library, top);
    frames.push({ start, isStatic: message.isStatic, returnData: EMPTY_BYTES });
    tracer.onEnter?.(start, message.depth);
  };

  const onExit = ({ execResult }: EVMResult): void => {
    const error = failureOf(execResult.exceptionError, engine.common.hardfork());
    const halt =
      error && error.error !== "revert"
        ? haltOf(error, {
            opcode: held?.opcode.code,
            stackLength: execResult.runState?.stack.length ?? 0,
          })
        : undefined;
    tellHeldStep(halt);
    const frame = frames.pop();
    const depth = frames.length;
    const isWithoutOutput = halt !== undefined || (error === undefined && execResult.exceptionError);
    const output = Uint8Array.from(isWithoutOutput ? EMPTY_BYTES : execResult.returnValue);
    const parent = frames[depth - 1];
    const isCreation = frame?.start.type === "CREATE" || frame?.start.type === "CREATE2";
    if (parent) parent.returnData = isCreation && !error ? EMPTY_BYTES : output;
    const end = { gasUsed: execResult.executionGasUsed, output };
    if (halt) tracer.onExit?.({ ...end, outcome: "halt", halt }, depth);
    else tracer.onExit?.({ ...end, outcome: error ? "revert" : "success" }, depth);
  };

  engine.events.on("beforeMessage", onEnter);
  engine.events.on("afterMessage", onExit);
  if (tracer.onStep || tracer.onAccessStep || tracer.onLog || tracer.onEnter) {
    engine.events.on("step", onStep);
  }
  return () => {
    engine.events.removeAllListeners("beforeMessage");
    engine.events.removeAllListeners("afterMessage");
    engine.events.removeAllListeners("step");
  };
}

/** What SLOAD and SSTORE are about to read or overwrite. */
function slotOf({ opcode, stack, address }: InterpreterStep, state: State): HeldStep["slot"] {
  const top = stack.at(-1);
  if (top === undefined || (opcode.code !== OP.sload && opcode.code !== OP.sstore)) return undefined;
  const slot = hashFromBigint(top);
  return [slot, state.storage(address.toString() as Address, slot)];
}

function stepOf(step: HeldStep, returnData: Uint8Array, halt: Step["halt"]): Step {
  const gasCost = step.opcode.dynamicFee ?? BigInt(step.opcode.fee);
  return {
    pc: step.pc,
    opcode: step.opcode.code,
    gas: step.gasLeft,
    gasCost,
    gasNumber: Number(step.gasLeft),
    gasCostNumber: Number(gasCost),
    depth: step.depth,
    address: step.address.toString() as Address,
    stackLength: () => step.stack.length,
    stackWord: (index) => step.stack.at(-1 - index)!,
    stack: () => step.stack,
    get bytes() {
      const words = [...step.stack].reverse().map((word) => bigintToFixedBytes(word, 32).reverse());
      return concatBytes(...words, memoryOf(step));
    },
    stackTop: 0,
    memoryBegin: 32 * step.stack.length,
    memoryLength: () => 32 * Number(step.memoryWordCount),
    memory: (begin, end) => memoryOf(step).slice(begin, end),
    account: () => invariant(false, "the oracle shows no accounts") as never,
    returnData: () => returnData,
    storage(slot) {
      invariant(step.slot?.[0] === slot, "only the slot of an opcode is reported");
      return step.slot[1];
    },
    refund: step.gasRefund,
    ...(halt ? { halt } : {}),
  };
}

/** The library allots memory only where a byte is written, and reports no more than it allotted. */
function memoryOf({ memory, memoryWordCount }: InterpreterStep): Uint8Array {
  const size = 32 * Number(memoryWordCount);
  if (memory.length === size) return memory;
  const whole = new Uint8Array(size);
  whole.set(memory);
  return whole;
}

function frameStartOf(
  message: LibraryMessage,
  caller: InterpreterStep | undefined,
  parent: FrameStart | undefined,
  { util }: LoadedLibrary,
  top: Message,
): FrameStart {
  const opcode = caller?.opcode.code ?? (message.to ? OP.call : OP.create);
  const type = FRAME_TYPES[opcode] ?? "CALL";
  const from = (caller?.address ?? message.caller).toString() as Address;
  const common = { type, from, gas: message.gasLimit, input: message.data };
  if (message.to) {
    const to = message.codeAddress.toString() as Address;
    const value = message.delegatecall ? (parent?.value ?? 0n) : message.value;
    return { ...common, to, value };
  }
  if (message.depth === 0) return { ...common, to: top.createAddress ?? from, value: message.value };
  // The creator's nonce is already raised when the frame begins.
  const created = message.salt
    ? util.generateAddress2(message.caller.bytes, message.salt, message.data)
    : util.generateAddress(message.caller.bytes, util.bigIntToUnpaddedBytes((caller?.account.nonce ?? 1n) - 1n));
  return { ...common, to: addressFromBytes(created), value: message.value };
}

function tellLog(step: InterpreterStep, tracer: Tracer): void {
  const topicCount = step.opcode.code - OP.log0;
  if (step.stack.length < topicCount + 2) return;
  const word = (depth: number) => step.stack.at(-1 - depth) ?? 0n;
  const data = new Uint8Array(Number(word(1)));
  const start = Number(word(0));
  data.set(step.memory.subarray(start, start + data.length));
  tracer.onLog?.(
    {
      address: step.address.toString() as Address,
      topics: Array.from({ length: topicCount }, (_, i) => hashFromBigint(word(2 + i))),
      data,
    },
    step.depth,
  );
}

/** geth reports a self-destruct as a frame that ends at once. */
function tellSelfDestruct(step: InterpreterStep, tracer: Tracer): void {
  const heir = step.stack.at(-1);
  if (heir === undefined) return;
  const from = step.address.toString() as Address;
  tracer.onEnter?.(
    {
      type: "SELFDESTRUCT",
      from,
      to: addressOfWord(heir),
      value: step.account.balance,
      gas: 0n,
      input: EMPTY_BYTES,
    },
    step.depth + 1,
  );
  tracer.onExit?.({ gasUsed: 0n, output: EMPTY_BYTES, outcome: "success" }, step.depth + 1);
}

function addressOfWord(word: bigint): Address {
  return `0x${word
    .toString(16)
    .padStart(ZERO_HASH.length - 2, "0")
    .slice(24)}` as Address;
}
