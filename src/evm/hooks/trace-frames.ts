import { EMPTY_BYTES } from "../../primitives/bytes.ts";
import { frame, globals, record, request } from "../memory/layout.ts";
import { CALL, CALLCODE, CREATE, CREATE2, DELEGATECALL, STATICCALL } from "../opcodes.ts";
import type { FrameResult, Session } from "../session.ts";
import type { FrameStart } from "../tracer.ts";

const TYPE_OF: Readonly<Record<number, FrameStart["type"]>> = {
  [CREATE]: "CREATE",
  [CALL]: "CALL",
  [CALLCODE]: "CALLCODE",
  [DELEGATECALL]: "DELEGATECALL",
  [CREATE2]: "CREATE2",
  [STATICCALL]: "STATICCALL",
};

/** Notifies the tracer of the call or creation in `request`. */
export function traceEnter(session: Session): void {
  const { memory, records, tracer, depth } = session;
  session.traced++;
  tracer?.onEnter?.(
    {
      type: TYPE_OF[memory.get32(request.opcode)]!,
      from: records.addressOf(memory.get32(frame.account)),
      to: records.addressOf(memory.get32(request.target)),
      value: memory.word(request.value),
      gas: memory.get64(request.gas),
      input: memory.copy(memory.get32(request.input), memory.get32(request.inputSize)),
    },
    depth + 1,
  );
}

/** `gas` is what it began with; what comes back of it is in `globals.gasBack`. */
export function traceExit(
  session: Session,
  frameResult: FrameResult,
  gas: bigint,
  depth: number,
): void {
  const { memory, tracer } = session;
  const { outcome, halt, output, outputSize } = frameResult;
  session.traced--;
  const end = {
    gasUsed: gas - memory.get64(globals.gasBack),
    output: memory.copy(output, outputSize),
    outcome,
  };
  tracer?.onExit?.(halt === undefined ? end : { ...end, halt }, depth);
}

/** SELFDESTRUCT shows as a frame of its own that ends at once. */
export function traceSelfDestruct(session: Session, target: number): void {
  const { memory, records, tracer, depth } = session;
  const account = memory.get32(frame.account);
  tracer?.onEnter?.(
    {
      type: "SELFDESTRUCT",
      from: records.addressOf(account),
      to: records.addressOf(target),
      value: memory.word(account + record.value),
      gas: 0n,
      input: EMPTY_BYTES,
    },
    depth + 1,
  );
  tracer?.onExit?.({ gasUsed: 0n, output: EMPTY_BYTES, outcome: "success" }, depth + 1);
}
