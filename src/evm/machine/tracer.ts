import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Log } from "../../base/types/receipt.ts";
import type { Halt } from "./halts.ts";
import type { LinearMemory } from "./memory/linear-memory.ts";

/** Hooks into one execution. Every hook is optional, and an engine pays only for the given ones. */
export interface Tracer {
  /** Sees the frames that `onEnter` and `onExit` see, in the engine's memory. */
  readonly frames?: FrameTracer;
  /** A frame begins, also one that ends at once (precompile, no code, not enough balance). Depth 0 is the top. */
  onEnter?(frame: FrameStart, depth: number): void;
  onExit?(frame: FrameEnd, depth: number): void;
  /** A log was emitted; a reverting frame later takes it back without notice. */
  onLog?(log: Log, depth: number): void;
  /** Before each opcode. The next one may have the same object. */
  onStep?(step: Step): void;
  /** Before each opcode of `ACCESS_OPCODES`: much cheaper than `onStep` for tracers that look at no other. */
  onAccessStep?(step: AccessStep): void;
}

/** Reads the frames out of linear memory, where no object has to be made for them (`FrameTable`). */
export interface FrameTracer {
  /** The call or creation in `request` begins. */
  enter(memory: LinearMemory, depth: number): void;
  /** The frame at `depth` ends; its output is at `output`, the gas that it gives back in `globals.gasBack`. */
  exit(
    memory: LinearMemory,
    depth: number,
    outcome: FrameEnd["outcome"],
    output: number,
    outputSize: number,
    halt: Halt | undefined,
  ): void;
  /** @param target the account that receives the balance of the running one */
  selfDestruct(memory: LinearMemory, depth: number, target: number): void;
  /** The execution is over. @param addressOf the address of an account's record, from now on */
  end(addressOf: (account: number) => Address): void;
}

export type FrameStart = {
  readonly type: "CALL" | "CALLCODE" | "DELEGATECALL" | "STATICCALL" | "CREATE" | "CREATE2" | "SELFDESTRUCT";
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly gas: bigint;
  readonly input: Uint8Array;
};

export type FrameEnd = {
  readonly gasUsed: bigint;
  readonly output: Uint8Array;
  readonly outcome: "success" | "revert" | "halt";
  readonly halt?: Halt;
};

export type Step = {
  readonly pc: number;
  readonly opcode: number;
  readonly gas: bigint;
  /** Cost of this opcode with its dynamic part. */
  readonly gasCost: bigint;
  /** `gas`, rounded from 2^53 on: a bigint for each of millions of steps is garbage. */
  readonly gasNumber: number;
  /** `gasCost` in the same way. */
  readonly gasCostNumber: number;
  readonly depth: number;
  readonly address: Address;
  /** Words on the stack; `stackWord(0)` is the top. */
  stackLength(): number;
  stackWord(index: number): bigint;
  /**
   * The engine's memory, for hooks that write millions of steps: valid while the hook runs. Words of the stack begin at `stackTop`,
   * 32 bytes each with the lowest byte first; the frame's memory begins at `memoryBegin`.
   */
  readonly bytes: Uint8Array;
  readonly stackTop: number;
  readonly memoryBegin: number;
  /** Bottom first. Made on demand. */
  stack(): bigint[];
  memoryLength(): number;
  /** A copy; `end` is at most `memoryLength()`. */
  memory(begin?: number, end?: number): Uint8Array;
  returnData(): Uint8Array;
  /** Value of a slot of `address`, or of another account, as it is now, made at no cost in gas. */
  storage(slot: Hash, address?: Address): bigint;
  /** An account as it is now; undefined where none exists. */
  account(address: Address): StepAccount | undefined;
  readonly refund: bigint;
  readonly halt?: Halt | undefined;
};

/** Balance in wei. */
export type StepAccount = {
  readonly balance: bigint;
  readonly nonce: bigint;
  readonly code: Uint8Array;
};

/** An opcode of `ACCESS_OPCODES`, paid for and not yet run; read only while the hook runs. */
export type AccessStep = {
  readonly opcode: number;
  /** The account whose code runs, or for which it runs. */
  readonly address: Address;
  /** Words on the stack. */
  readonly stackHeight: number;
  /** Operand `n` of the opcode, 0 on top; only below `stackHeight`. */
  operand(n: number): bigint;
  readonly halt?: Halt | undefined;
};
