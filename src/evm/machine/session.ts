import type { Address } from "../../base/primitives/address.ts";
import type { BlockContext, ExecuteOptions } from "./evm.ts";
import type { Halt } from "./halts.ts";
import type { Code, CodeCache } from "./memory/code-cache.ts";
import { ADDRESS_KEY, frame, globals, request, WORD } from "./memory/layout.ts";
import type { LinearMemory } from "./memory/linear-memory.ts";
import type { Logs } from "./memory/logs.ts";
import type { Records } from "./memory/records.ts";
import type { Interpreter } from "./modules/interpreters.ts";
import type { Rules } from "./rules.ts";
import type { Precompile, State } from "./state-port.ts";
import type { Step, Tracer } from "./tracer.ts";

/** How a frame, or a call that never became one, ended. Its output is in linear memory. */
export type FrameResult = {
  readonly outcome: "success" | "revert" | "halt";
  readonly halt?: Halt;
  readonly output: number;
  readonly outputSize: number;
};

export const EMPTY_SUCCESS: FrameResult = { outcome: "success", output: 0, outputSize: 0 };

export function halted(halt: Halt): FrameResult {
  return { outcome: "halt", halt, output: 0, outputSize: 0 };
}

/** A region of linear memory is full: the execution ends with "memoryLimit". */
export class LinearMemoryExhausted extends Error {}

/** The deadline passed inside a precompile or between two traced steps: the execution ends with "timeout". */
export class OutOfTime extends Error {}

/** One execution: what its frames share. */
export type Session = {
  readonly memory: LinearMemory;
  readonly rules: Rules;
  readonly records: Records;
  readonly codes: CodeCache;
  /** Its journal functions; any build has the same. */
  readonly journal: Interpreter;
  state: State;
  block: BlockContext;
  precompiles: ReadonlyMap<Address, Precompile>;
  tracer: Tracer | undefined;
  onAccess: ExecuteOptions["onAccess"];
  /** True when the deadline has passed; undefined without one. */
  isOutOfTime: (() => boolean) | undefined;
  logs: Logs;
  /** Depth of the running frame; −1 before the first and after the last */
  depth: number;
  /** How the frame at depth 0 ended; its gas is in `frame.gas`. */
  frameResult: FrameResult;
  /** Calls and creations reported to the tracer that have not ended */
  traced: number;
  /** The cached code of each frame; undefined for a frame that runs uncached code */
  readonly codeAt: (Code | undefined)[];
  /** Gas at entry of each frame, stored for `onExit` only */
  readonly gasAtEntry: bigint[];
  /** The RIPEMD-160 precompile was touched, which outlives reverts (Yellow Paper, appendix K). */
  touchedRipemd: boolean;
  /** What step hooks see; made for the first step. */
  step: (Step & { begin(halt: Halt | undefined): void }) | undefined;
  /** A halted opcode runs once more to learn its cost; see `step-cost.ts`. */
  isPricing: boolean;
};

export function align32(address: number): number {
  return (address + WORD - 1) & -WORD;
}

/** The record of `address`. */
export function accountOf({ memory, journal, records }: Session, address: Address): number {
  memory.setHex(ADDRESS_KEY, address);
  return records.naming(address, () => journal.find(0, ADDRESS_KEY));
}

/** Where the running frame's memory ends: memory after it is free, except for return data. */
export function memoryEnd({ memory }: Session): number {
  return memory.get32(frame.memory) + memory.get32(frame.memorySize);
}

/** Puts back everything since `snapshot`, with the logs and the refund counter the running frame began with. */
export function revertFrame(session: Session): void {
  const { memory, journal } = session;
  journal.revert(memory.get32(frame.snapshot));
  session.logs.revert();
  memory.copy64(globals.refund, frame.refund);
}

/**
 * EIP-7708: the log of the transfer of `request.value` between two accounts, which goes when the running frame reverts.
 * @param depth of the call or frame that tracers see it in
 */
export function logTransfer({ memory, records, logs, tracer }: Session, from: number, to: number, depth: number): void {
  if (memory.isZeroWord(request.value)) return;
  const log = logs.appendTransfer(records.addressOf(from), records.addressOf(to), memory.word(request.value));
  tracer?.onLog?.(log, depth);
}
