import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { frame, globals, record, request } from "../memory/layout.ts";
import type { FrameResult, Session } from "../session.ts";
import { FRAME_TYPES, SELFDESTRUCT } from "./frame-table.ts";

/** Notifies the tracer of the call or creation in `request`. */
export function traceEnter(session: Session): void {
  const { memory, records, depth } = session;
  const tracer = session.tracer!;
  session.traced++;
  tracer.frames?.enter(memory, depth + 1);
  if (tracer.onExit !== undefined) session.gasAtEntry[depth + 1] = memory.get64(request.gas);
  tracer.onEnter?.(
    {
      type: FRAME_TYPES[memory.get32(request.opcode)]!,
      from: records.addressOf(memory.get32(frame.account)),
      to: records.addressOf(memory.get32(request.target)),
      value: memory.word(request.value),
      gas: memory.get64(request.gas),
      input: memory.copy(memory.get32(request.input), memory.get32(request.inputSize)),
    },
    depth + 1,
  );
}

/** The gas that it gives back is in `globals.gasBack`. */
export function traceExit(session: Session, { outcome, halt, output, outputSize }: FrameResult, depth: number): void {
  const { memory } = session;
  const tracer = session.tracer!;
  session.traced--;
  tracer.frames?.exit(memory, depth, outcome, output, outputSize, halt);
  if (tracer.onExit === undefined) return;
  const end = {
    gasUsed: session.gasAtEntry[depth]! - memory.get64(globals.gasBack),
    output: memory.copy(output, outputSize),
    outcome,
  };
  tracer.onExit(halt === undefined ? end : { ...end, halt }, depth);
}

/** SELFDESTRUCT appears as a separate frame that ends at once. */
export function traceSelfDestruct(session: Session, target: number): void {
  const { memory, records, tracer, depth } = session;
  const account = memory.get32(frame.account);
  tracer?.frames?.selfDestruct(memory, depth + 1, target);
  tracer?.onEnter?.(
    {
      type: FRAME_TYPES[SELFDESTRUCT]!,
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
