import { type Address, addressFromWord } from "../../base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../../base/primitives/hash.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import type { Halt } from "../machine/halts.ts";
import type { Step } from "../machine/tracer.ts";
import { type CallFrame, CallFrameRecorder } from "./call-frames.ts";
import { writeFrame } from "./call-tracer.ts";
import { InvalidTracerError } from "./trace-budget.ts";
import { kindOf, readSwitches, type TracerConfig, type TracerFactory } from "./tracer-config.ts";

type Erc7562Config = {
  readonly ignoredOpcodes: ReadonlySet<number>;
  readonly withLog: boolean;
};

/** POP, PUSH, DUP, SWAP and the arithmetic that every contract uses. */
const IGNORED: ReadonlySet<number> = new Set(
  [
    [0x01, 0x04],
    [0x10, 0x17],
    [0x19, 0x19],
    [0x1b, 0x1c],
    [0x50, 0x50],
    [0x5f, 0x9f],
  ].flatMap(([first, last]) => Array.from({ length: last! - first! + 1 }, (_, i) => first! + i)),
);

/**
 * `ignoredOpcodes` is a list of QUANTITY; `stackTopItemsSize` is checked and has no effect: nothing that geth shows depends on it.
 * @throws InvalidTracerError with Go's text
 */
function readErc7562Config(config: TracerConfig): Erc7562Config {
  const { withLog } = readSwitches("erc7562Tracer", config, ["withLog"]);
  const size = config["stackTopItemsSize"] ?? 0;
  if (!Number.isSafeInteger(size)) throw fault(size, "stackTopItemsSize", "int");
  const ignored = config["ignoredOpcodes"] ?? undefined;
  if (ignored === undefined) return { withLog, ignoredOpcodes: IGNORED };
  if (!Array.isArray(ignored)) throw fault(ignored, "ignoredOpcodes", "[]hexutil.Uint64");
  return { withLog, ignoredOpcodes: new Set(ignored.map(opcodeOf)) };
}

function opcodeOf(value: unknown): number {
  if (typeof value === "string" && /^0x(?:0|[1-9a-f][0-9a-f]{0,15})$/i.test(value)) {
    return Number(value);
  }
  throw fault(value, "ignoredOpcodes", "hexutil.Uint64");
}

function fault(value: unknown, field: string, type: string): InvalidTracerError {
  return new InvalidTracerError(
    `json: cannot unmarshal ${kindOf(value)} into Go struct field erc7562TracerConfig.${field} of type ${type}`,
  );
}

const KECCAK256 = 0x20;
const ISZERO = 0x15;
const EXTCODESIZE = 0x3b;
const EXTCODECOPY = 0x3c;
const EXTCODEHASH = 0x3f;
const SLOAD = 0x54;
const SSTORE = 0x55;
const GAS = 0x5a;
const TLOAD = 0x5c;
const TSTORE = 0x5d;
const CALLS: ReadonlySet<number> = new Set([0xf1, 0xf2, 0xf4, 0xfa]);

/** Bytes that a hashed range may lie beyond memory, in geth as well. */
const PADDING_BYTES_MAX = 2 ** 20;
const ENTRY_CHARS = 140;

/** What validation rules of ERC-7562 look at in one frame. */
type FrameUse = {
  /** Value of each slot before the transaction's first write of this frame. */
  readonly reads: Map<Hash, Hash>;
  readonly writes: Map<Hash, number>;
  readonly transientReads: Map<Hash, number>;
  readonly transientWrites: Map<Hash, number>;
  readonly extCodeAccesses: Address[];
  readonly usedOpcodes: Map<number, number>;
  readonly contractSizes: Map<Address, { readonly size: number; readonly opcode: number }>;
};

/** An opcode with the address that EXTCODE* takes from the stack. */
type LastOpcode = { readonly opcode: number; readonly top: bigint | undefined };

/**
 * `erc7562Tracer`: the tree of calls of `callTracer`, each with the slots, opcodes and contracts it used, as bundlers of account
 * abstraction check them.
 *
 * @see ERC-7562, rules OP-011 to OP-062 and STO-*
 */
export const erc7562Tracer: TracerFactory = (config, { message, logsBefore, budget }) => {
  const { ignoredOpcodes, withLog } = readErc7562Config(config);
  const recorder = new CallFrameRecorder(logsBefore, budget);
  const useOf = new Map<CallFrame, FrameUse>();
  const preimages = new Set<string>();
  let last: LastOpcode | undefined;

  const useOfCurrent = (): FrameUse | undefined => {
    const frame = recorder.current;
    return frame && useOf.get(frame);
  };
  const count = <Key>(counts: Map<Key, number>, key: Key) => {
    const before = counts.get(key);
    if (before === undefined) budget.take(ENTRY_CHARS);
    counts.set(key, (before ?? 0) + 1);
  };

  return {
    hooks: {
      onEnter(start) {
        recorder.onEnter(start);
        useOf.set(recorder.current!, createFrameUse());
      },
      onExit: recorder.onExit,
      ...(withLog && { onLog: recorder.onLog }),
      onStep(step) {
        const use = useOfCurrent();
        if (use === undefined) return;
        const { opcode } = step;
        if (last !== undefined) observeLast(last, opcode, use);
        observeContractSize(step, use);
        if (opcode !== GAS && !ignoredOpcodes.has(opcode)) count(use.usedOpcodes, opcode);
        observeStorage(step, use);
        if (opcode === KECCAK256) observePreimage(step);
        last = { opcode, top: step.stackLength() > 0 ? step.stackWord(0) : undefined };
      },
    },
    write({ result }, out) {
      const top = recorder.top;
      if (!top) {
        out.text("{}");
        return;
      }
      const whole = { gas: message.gasLimit, gasUsed: result.gasUsed };
      const keccak = [...preimages].sort();
      const moreOf = (frame: CallFrame) =>
        useText(useOf.get(frame)!, frame !== top && isOutOfGas(frame.end.halt)) +
        (frame === top && keccak.length > 0 ? `,"keccak":["${keccak.join('","')}"]` : "");
      writeFrame(top, { withLogs: withLog, whole, hasValue: ({ type }) => type !== "STATICCALL", moreOf }, out);
    },
  };

  /** What the opcode before says once it is known what follows it. */
  function observeLast(before: LastOpcode, opcode: number, use: FrameUse): void {
    const isPlainSizeCheck = before.opcode === EXTCODESIZE && opcode === ISZERO;
    if (isExtCode(before.opcode) && before.top !== undefined && !isPlainSizeCheck) {
      budget.take(ENTRY_CHARS);
      use.extCodeAccesses.push(addressFromWord(before.top));
    }
    // GAS may only be read for a call that follows at once (OP-012).
    if (before.opcode === GAS && !CALLS.has(opcode)) count(use.usedOpcodes, GAS);
  }

  function observeContractSize(step: Step, use: FrameUse): void {
    const { opcode } = step;
    const operand = isExtCode(opcode) ? 0 : CALLS.has(opcode) ? 1 : undefined;
    if (operand === undefined || step.stackLength() <= operand) return;
    const address = addressFromWord(step.stackWord(operand));
    if (use.contractSizes.has(address)) return;
    budget.take(ENTRY_CHARS);
    const size = step.account(address)?.code.length ?? 0;
    use.contractSizes.set(address, { size, opcode });
  }

  function observeStorage(step: Step, use: FrameUse): void {
    const { opcode } = step;
    const isStorage = opcode === SLOAD || opcode === SSTORE;
    if ((!isStorage && opcode !== TLOAD && opcode !== TSTORE) || step.stackLength() === 0) return;
    const slot = hashFromBigint(step.stackWord(0));
    if (opcode === SSTORE) count(use.writes, slot);
    else if (opcode === TLOAD) count(use.transientReads, slot);
    else if (opcode === TSTORE) count(use.transientWrites, slot);
    else if (!use.reads.has(slot) && !use.writes.has(slot)) {
      budget.take(ENTRY_CHARS);
      use.reads.set(slot, hashFromBigint(step.storage(slot)));
    }
  }

  function observePreimage(step: Step): void {
    if (step.stackLength() < 2) return;
    const [offset, size] = [step.stackWord(0), step.stackWord(1)];
    const have = step.memoryLength();
    const end = offset + size;
    if (end > have + PADDING_BYTES_MAX) return;
    const preimage = new Uint8Array(Number(size));
    if (offset < have) {
      preimage.set(step.memory(Number(offset), Math.min(Number(end), have)));
    }
    const text = bytesToHex(preimage);
    if (preimages.has(text)) return;
    budget.take(text.length);
    preimages.add(text);
  }
};

function isExtCode(opcode: number): boolean {
  return opcode === EXTCODESIZE || opcode === EXTCODECOPY || opcode === EXTCODEHASH;
}

/** geth says it of inner frames only. */
function isOutOfGas(halt: Halt | undefined): boolean {
  return halt?.kind === "outOfGas" || halt?.kind === "codeStoreOutOfGas";
}

function createFrameUse(): FrameUse {
  return {
    reads: new Map(),
    writes: new Map(),
    transientReads: new Map(),
    transientWrites: new Map(),
    extCodeAccesses: [],
    usedOpcodes: new Map(),
    contractSizes: new Map(),
  };
}

function useText(use: FrameUse, isOutOfGas: boolean): string {
  const reads = [...use.reads].map(([slot, value]) => `"${slot}":["${value}"]`);
  const counts = (of: ReadonlyMap<Hash, number>) =>
    `{${[...of].map(([slot, times]) => `"${slot}":${times}`).join(",")}}`;
  const opcodes = [...use.usedOpcodes].map(([opcode, times]) => `"0x${opcode.toString(16)}":${times}`);
  const sizes = [...use.contractSizes].map(
    ([address, { size, opcode }]) => `"${address}":{"contractSize":${size},"opcode":${opcode}}`,
  );
  return (
    `,"accessedSlots":{"reads":{${reads.join(",")}},"writes":${counts(use.writes)}` +
    `,"transientReads":${counts(use.transientReads)},"transientWrites":${counts(use.transientWrites)}}` +
    `,"extCodeAccessInfo":${JSON.stringify(use.extCodeAccesses)}` +
    `,"usedOpcodes":{${opcodes.join(",")}},"contractSize":{${sizes.join(",")}}` +
    `,"outOfGas":${isOutOfGas}`
  );
}
