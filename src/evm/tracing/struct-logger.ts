import type { Address } from "../../base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../../base/primitives/hash.ts";
import { bytesToHex, hexDigits } from "../../base/primitives/hex.ts";
import { haltText } from "../machine/halts.ts";
import { opcodeName } from "../machine/opcodes.ts";
import type { FrameEnd, Step } from "../machine/tracer.ts";
import { errorOf, isFaultOf } from "./faults.ts";
import { JsonWriter } from "./json-writer.ts";
import type { TracedTransaction, TransactionTracer } from "./tracer-config.ts";

export type StructLogConfig = {
  readonly enableMemory?: boolean;
  readonly disableStack?: boolean;
  readonly disableStorage?: boolean;
  readonly enableReturnData?: boolean;
  /** Steps to keep; 0: all */
  readonly limit?: number;
};

const SLOAD = 0x54;
const SSTORE = 0x55;
const WORD_BYTES = 32;

/** What follows the number of `pc`, by opcode. */
const OPCODE_MEMBERS = Array.from({ length: 256 }, (_, opcode) => `,"op":"${opcodeName(opcode)}","gas":`);

/** Slots of one contract that were read or written so far. */
type SeenStorage = Map<Hash, bigint>;

/**
 * The tracer without a name: one record an opcode, as execution-apis has it (`debug_traceTransaction`): 0x everywhere,
 * optional members absent instead of null.
 */
export function createStructLogger(
  config: StructLogConfig,
  { budget }: Pick<TracedTransaction, "budget">,
): TransactionTracer {
  const { limit = 0 } = config;
  const steps = new JsonWriter();
  const storages = new Map<Address, SeenStorage>();
  let count = 0;
  return {
    hooks: {
      onStep(step) {
        const storage = config.disableStorage ? undefined : storageText(step, storages);
        if (limit > 0 && count >= limit) return;
        const before = steps.length;
        if (count++ > 0) steps.text(",");
        writeStep(step, storage, config, steps);
        budget.take(steps.length - before);
      },
    },
    result({ result: { gasUsed, outcome, returnData } }) {
      const head =
        `{"gas":${gasUsed},"failed":${outcome !== "success"}` +
        `,"returnValue":"${bytesToHex(returnData)}","structLogs":[`;
      return [Buffer.from(head), ...steps.finish(), Buffer.from("]}")];
    },
  };
}

function writeStep(step: Step, storage: string | undefined, config: StructLogConfig, out: JsonWriter): void {
  const { bytes } = step;
  out.text('{"pc":');
  out.decimal(step.pc);
  out.text(OPCODE_MEMBERS[step.opcode]!);
  writeGas(step.gasNumber, step, "gas", out);
  out.text(',"gasCost":');
  writeGas(step.gasCostNumber, step, "gasCost", out);
  out.text(',"depth":');
  out.decimal(step.depth + 1);
  if (step.halt) out.text(`,"error":${JSON.stringify(haltText(step.halt))}`);
  if (!config.disableStack) {
    out.text(',"stack":[');
    const { stackTop } = step;
    for (let i = step.stackLength() - 1; i >= 0; i--) {
      out.quantity(bytes, stackTop + i * WORD_BYTES);
      if (i > 0) out.text(",");
    }
    out.text("]");
  }
  if (config.enableReturnData) {
    const returnData = step.returnData();
    if (returnData.length > 0) {
      out.text(',"returnData":"0x');
      out.hex(returnData, 0, returnData.length);
      out.text('"');
    }
  }
  if (config.enableMemory) writeMemory(bytes, step.memoryBegin, step.memoryLength(), out);
  if (storage !== undefined) {
    out.text(',"storage":');
    out.text(storage);
  }
  if (step.refund !== 0n) out.text(`,"refund":${step.refund}`);
  out.text("}");
}

function writeGas(rounded: number, step: Step, exact: "gas" | "gasCost", out: JsonWriter): void {
  out.decimal(rounded <= Number.MAX_SAFE_INTEGER ? rounded : step[exact]);
}

/** For SLOAD and SSTORE: every slot of the contract seen so far, this one among them. */
function storageText(step: Step, storages: Map<Address, SeenStorage>): string | undefined {
  if (step.opcode !== SLOAD && step.opcode !== SSTORE) return undefined;
  // An opcode that fails has read and written nothing.
  if (step.halt !== undefined) return undefined;
  const stack = step.stack();
  const key = stack.at(-1);
  const written = step.opcode === SSTORE ? stack.at(-2) : undefined;
  if (key === undefined || (step.opcode === SSTORE && written === undefined)) return undefined;
  let seen = storages.get(step.address);
  if (!seen) {
    seen = new Map();
    storages.set(step.address, seen);
  }
  const slot = hashFromBigint(key);
  seen.set(slot, written ?? step.storage(slot));
  const members = [...seen].map(([at, value]) => `"${at}":"${hashFromBigint(value)}"`);
  return `{${members.join(",")}}`;
}

/** 32-byte words; the memory is always a multiple of them. */
function writeMemory(bytes: Uint8Array, begin: number, length: number, out: JsonWriter): void {
  if (length === 0) return;
  out.text(',"memory":[');
  for (let at = 0; at < length; at += WORD_BYTES) {
    out.text(at === 0 ? '"0x' : ',"0x');
    out.hex(bytes, begin + at, begin + at + WORD_BYTES);
    out.text('"');
  }
  out.text("]");
}

/** Standard traces (EIP-3155) as geth writes them: a line of JSON for each step, and one for the end of each frame. */
export function createJsonLogger(
  config: StructLogConfig,
  { budget }: Pick<TracedTransaction, "budget">,
): TransactionTracer {
  const lines: string[] = [];
  const add = (line: string) => {
    budget.take(line.length);
    lines.push(line);
  };
  /** Of the running frame. */
  let last: Step | undefined;
  return {
    hooks: {
      onEnter() {
        last = undefined;
      },
      onStep(step) {
        last = step;
        add(stepLine(step, config));
      },
      onExit(end, depth) {
        if (last !== undefined && isFaultOf(last, end, depth)) add(faultLine(last, end, config));
        last = undefined;
        add(endLine(end));
      },
    },
    result: () => lines.join(""),
  };
}

/** Operands that an opcode has taken from the stack before it fails, and the range of memory that it has provided by then. */
const TAKEN: Readonly<Record<number, number>> = { 62: 3, 86: 1, 87: 2, 240: 3, 245: 4, 253: 2 };
const RANGES: ReadonlyMap<number, readonly [offset: number, size: number]> = new Map([
  [0x3e, [0, 2]],
  [0xfd, [0, 1]],
  [0xa0, [0, 1]],
  [0xa1, [0, 1]],
  [0xa2, [0, 1]],
  [0xa3, [0, 1]],
  [0xa4, [0, 1]],
]);

/** The step once more, as geth writes one that fails after it was paid for. */
function faultLine(step: Step, end: FrameEnd, config: StructLogConfig): string {
  const stack = step.stack();
  const [offset = 0, size = 0] = RANGES.get(step.opcode)?.map((n) => Number(step.stackWord(n))) ?? [];
  const memoryEnd = size === 0 ? 0 : Math.ceil((offset + size) / WORD_BYTES) * WORD_BYTES;
  const memory = step.memory(0, Math.max(step.memoryLength(), memoryEnd));
  const left = stack.slice(0, stack.length - (TAKEN[step.opcode] ?? 0));
  return lineOf(step, { memory, stack: left, returnData: undefined, error: errorOf(end) }, config);
}

function stepLine(step: Step, config: StructLogConfig): string {
  const returnData = config.enableReturnData ? step.returnData() : undefined;
  const error = step.halt && haltText(step.halt);
  return lineOf(step, { memory: step.memory(), stack: step.stack(), returnData, error }, config);
}

type ShownStep = {
  readonly memory: Uint8Array;
  readonly stack: readonly bigint[];
  readonly returnData: Uint8Array | undefined;
  readonly error: string | undefined;
};

function lineOf(step: Step, { memory, returnData, error, ...shown }: ShownStep, config: StructLogConfig): string {
  const stack = shown.stack.map((word) => `"0x${word.toString(16)}"`);
  return (
    `{"pc":${step.pc},"op":${step.opcode},"gas":"0x${step.gas.toString(16)}","gasCost":"0x${step.gasCost.toString(16)}"` +
    (config.enableMemory && memory.length > 0 ? `,"memory":"${bytesToHex(memory)}"` : "") +
    `,"memSize":${memory.length},"stack":${config.disableStack ? "null" : `[${stack}]`}` +
    (returnData && returnData.length > 0 ? `,"returnData":"${bytesToHex(returnData)}"` : "") +
    `,"depth":${step.depth + 1},"refund":${step.refund},"opName":"${opcodeName(step.opcode)}"` +
    `${error === undefined ? "" : `,"error":${goString(error)}`}}\n`
  );
}

function endLine(end: FrameEnd): string {
  const error = errorOf(end);
  return (
    `{"output":"${hexDigits(end.output)}","gasUsed":"0x${end.gasUsed.toString(16)}"` +
    `${error === undefined ? "" : `,"error":${goString(error)}`}}\n`
  );
}

/** JSON as Go's encoder writes it. */
const goString = (text: string): string =>
  JSON.stringify(text).replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
