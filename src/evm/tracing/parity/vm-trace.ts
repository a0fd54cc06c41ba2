import type { Address } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { delegationTarget } from "../../execution/transaction/authorizations.ts";
import { opcodeName, opcodesOf } from "../../machine/opcodes.ts";
import type { FrameEnd, FrameStart, Step } from "../../machine/tracer.ts";
import type { TracedOutcome, TracedTransaction } from "../tracer-config.ts";

/** Records every opcode with its effects. */
type VmTraceRecorder = {
  readonly onEnter: (start: FrameStart) => void;
  readonly onExit: (end: FrameEnd) => void;
  readonly onStep: (step: Step) => void;
  /** `{code, ops}` of the outermost frame, JSON text. */
  text(outcome: TracedOutcome): string;
};

type VmFrame = {
  /** What runs: the init code of a creation, else the code of this address. */
  readonly code: Uint8Array | Address;
  readonly start: FrameStart;
  readonly ops: VmOp[];
  /** Paid for, and its effects not yet seen. */
  open: OpenOp | undefined;
};

type VmOp = { readonly head: string; readonly sub: VmFrame | undefined; readonly tail: string };

type OpenOp = {
  readonly step: Pick<Step, "pc" | "opcode" | "gas" | "gasCost">;
  readonly pushes: number;
  readonly memory: Written | undefined;
  /** JSON text */
  readonly store: string;
  sub: VmFrame | undefined;
};

type Written = { readonly offset: number; readonly size: number };

const SSTORE = 0x55;

/** Positions on the stack, from its top, of the offset and the size of the memory an opcode writes; `bytes` is a fixed size. */
type MemoryOperands = { readonly offset: number; readonly size?: number; readonly bytes?: number };

const COPY: MemoryOperands = { offset: 0, size: 2 };
const MEMORY_OPERANDS: ReadonlyMap<string, MemoryOperands> = new Map([
  ["CALLDATACOPY", COPY],
  ["CODECOPY", COPY],
  ["RETURNDATACOPY", COPY],
  ["MCOPY", COPY],
  ["EXTCODECOPY", { offset: 1, size: 3 }],
  ["MLOAD", { offset: 0, bytes: 32 }],
  ["MSTORE", { offset: 0, bytes: 32 }],
  ["MSTORE8", { offset: 0, bytes: 1 }],
  ["CALL", { offset: 5, size: 6 }],
  ["CALLCODE", { offset: 5, size: 6 }],
  ["DELEGATECALL", { offset: 4, size: 5 }],
  ["STATICCALL", { offset: 4, size: 5 }],
]);

/**
 * An opcode's effects are what stack and memory hold when the next opcode of its frame begins, so it is written down then.
 * @throws TraceTooLargeError from its hooks
 */
export function createVmTraceRecorder(traced: TracedTransaction): VmTraceRecorder {
  const opcodes = opcodesOf(traced.block.hardfork);
  /** Code of contracts that this transaction created. */
  const created = new Map<Address, Uint8Array>();
  const open: VmFrame[] = [];
  let top: VmFrame | undefined;

  /** @param next the opcode after it in its frame; absent where it was the last */
  function close(frame: VmFrame, hasFailed: boolean, next?: Step): void {
    const op = frame.open;
    if (!op) return;
    frame.open = undefined;
    const { pc, opcode, gas, gasCost } = op.step;
    const used = next ? next.gas : gas - gasCost;
    const pushed = next && op.pushes > 0 ? next.stack().slice(-op.pushes) : [];
    const push = pushed.map((word) => `"0x${word.toString(16)}"`).join(",");
    const memory = next && op.memory ? writtenText(op.memory, next.memory()) : "null";
    const effects = hasFailed ? "null" : `{"used":${used},"push":[${push}],"mem":${memory},"store":${op.store}}`;
    const head = `{"pc":${pc},"cost":${gasCost},"ex":${effects},"sub":`;
    const tail = `,"op":"${opcodeName(opcode)}"}`;
    traced.budget.take(head.length + tail.length);
    frame.ops.push({ head, sub: op.sub, tail });
  }

  return {
    onEnter(start) {
      const isCreation = start.type === "CREATE" || start.type === "CREATE2";
      const frame: VmFrame = {
        code: isCreation ? start.input : start.to,
        start,
        ops: [],
        open: undefined,
      };
      const caller = open.at(-1);
      if (!caller) top = frame;
      else if (caller.open && start.type !== "SELFDESTRUCT") caller.open.sub = frame;
      open.push(frame);
    },
    onExit({ outcome, output }) {
      const frame = open.pop();
      if (!frame) return;
      close(frame, outcome === "halt");
      const { type, to } = frame.start;
      if (outcome === "success" && (type === "CREATE" || type === "CREATE2")) {
        created.set(to, output);
      }
    },
    onStep(step) {
      const frame = open.at(-1);
      if (!frame) return;
      close(frame, false, step);
      const stack = step.halt ? [] : step.stack();
      const { pc, opcode, gas, gasCost } = step;
      frame.open = {
        step: { pc, opcode, gas, gasCost },
        pushes: opcodes[step.opcode]?.pushes ?? 0,
        memory: writtenBy(step.opcode, stack),
        store: step.opcode === SSTORE && !step.halt ? storeText(stack) : "null",
        sub: undefined,
      };
      if (step.halt) close(frame, true);
    },
    text: (outcome) => (top ? frameText(top, codeReader(traced, outcome, created)) : "null"),
  };
}

function writtenBy(opcode: number, stack: readonly bigint[]): Written | undefined {
  const operands = MEMORY_OPERANDS.get(opcodeName(opcode));
  const word = (position: number) => Number(stack.at(-1 - position) ?? 0n);
  if (!operands) return undefined;
  const size = operands.bytes ?? word(operands.size!);
  return size === 0 ? undefined : { offset: word(operands.offset), size };
}

function writtenText({ offset, size }: Written, memory: Uint8Array): string {
  return `{"off":${offset},"data":"${bytesToHex(memory.subarray(offset, offset + size))}"}`;
}

function storeText(stack: readonly bigint[]): string {
  const [value, key] = stack.slice(-2);
  if (key === undefined || value === undefined) return "null";
  return `{"key":"0x${key.toString(16)}","val":"0x${value.toString(16)}"}`;
}

function frameText({ code, ops }: VmFrame, codeOf: (address: Address) => Uint8Array): string {
  const bytes = typeof code === "string" ? codeOf(code) : code;
  const texts = ops.map(({ head, sub, tail }) => `${head}${sub ? frameText(sub, codeOf) : "null"}${tail}`);
  return `{"code":"${bytesToHex(bytes)}","ops":[${texts.join(",")}]}`;
}

/** The code an address ran in the transaction; that of its delegate where it has one (EIP-7702). */
function codeReader(
  { state }: TracedTransaction,
  outcome: TracedOutcome,
  created: ReadonlyMap<Address, Uint8Array>,
): (address: Address) => Uint8Array {
  const changes = outcome.changes();
  const changed = new Map(changes.accounts.map(({ address, account }) => [address, account]));
  const own = (address: Address): Uint8Array => {
    const account = changed.get(address) ?? state.account(address);
    if (!account) return created.get(address) ?? EMPTY_BYTES;
    return changes.codes.get(account.codeHash) ?? state.code(account.codeHash);
  };
  return (address) => {
    const code = own(address);
    const target = delegationTarget(code);
    return target ? own(target) : code;
  };
}
