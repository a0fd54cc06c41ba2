import { traceExit } from "./hooks/trace-frames.ts";
import { placedSize } from "./memory/code-cache.ts";
import { FRAME_STRIDE, FRAMES, frame, globals, record, request } from "./memory/layout.ts";
import {
  align32,
  CREATE,
  CREATE2,
  type FrameResult,
  LinearMemoryExhausted,
  memoryEnd,
  revertFrame,
  type Session,
} from "./session.ts";

/**
 * Saves the running frame and begins one above it for `request`. Account, caller, value and static are as in the parent
 * until they are set; the code comes with `useCachedCode` or `useOwnCode`.
 */
export function pushFrame(session: Session, snapshot: number): void {
  const { memory } = session;
  const floor = align32(memoryEnd(session));
  if (session.depth >= 0) {
    const saved = FRAMES + session.depth * FRAME_STRIDE;
    session.journal.copyFrame(saved, frame.begin);
  }
  session.depth++;
  memory.set32(frame.stackBase, memory.get32(frame.sp));
  memory.set32(frame.memory, floor);
  memory.set32(frame.memorySize, 0);
  memory.copy64(frame.gas, request.gas);
  memory.set32(frame.snapshot, snapshot);
  session.logs.markFrame();
  memory.copy64(frame.refund, globals.refund);
  memory.set32(frame.returnDataSize, 0);
  memory.set32(frame.outputTarget, memory.get32(request.output));
  memory.set32(frame.outputTargetSize, memory.get32(request.outputSize));
  memory.set32(frame.kind, memory.get32(request.opcode));
}

/** The frame runs the contract code with number `id`. */
export function useCachedCode(session: Session, id: number): void {
  const { memory, codes } = session;
  const code = codes.byId(id);
  session.codeAt[session.depth] = code;
  if (!codes.load(code)) {
    useOwnCode(session, code.bytes);
    return;
  }
  memory.set32(frame.code, code.address);
  memory.set32(frame.pc, code.address);
  memory.set32(frame.segments, code.segments);
  memory.set32(frame.codeSize, code.bytes.length);
}

/** The frame runs code that no other frame runs: it is stored below the frame's memory and goes with it. */
export function useOwnCode(session: Session, bytes: Uint8Array): void {
  const { memory, codes } = session;
  session.codeAt[session.depth] = undefined;
  const floor = memory.get32(frame.memory);
  const end = floor + placedSize(bytes.length) + 1024;
  if (end > memory.get32(globals.memoryLimit) || !memory.reserve(end)) {
    throw new LinearMemoryExhausted();
  }
  const placed = codes.place(bytes, floor);
  memory.set32(frame.code, placed.address);
  memory.set32(frame.pc, placed.address);
  memory.set32(frame.segments, placed.segments);
  memory.set32(frame.codeSize, bytes.length);
  memory.set32(frame.memory, align32(placed.end));
}

/** Ends the running frame: undoes it unless it succeeded, returns to its parent and passes it the result. */
export function popFrame(session: Session, frameResult: FrameResult, keepsChanges: boolean): void {
  const { memory } = session;
  if (!keepsChanges) revertFrame(session);
  if (frameResult.outcome === "halt") memory.set64(globals.gasBack, 0n);
  else memory.copy64(globals.gasBack, frame.gas);
  if (session.tracer) traceExit(session, frameResult, session.depth);
  const opcode = memory.get32(frame.kind);
  const created = memory.get32(frame.account);
  const target = memory.get32(frame.outputTarget);
  const targetSize = memory.get32(frame.outputTargetSize);
  session.depth--;
  if (session.depth >= 0) {
    const saved = FRAMES + session.depth * FRAME_STRIDE;
    session.journal.copyFrame(frame.begin, saved);
  }
  returnToCaller(session, frameResult, opcode, created, target, targetSize);
}

/** A call or creation ends before it became a frame; `gasBack` is what its caller gets back of its gas. */
export function endWithoutFrame(
  session: Session,
  frameResult: FrameResult,
  gasBack: "all" | "none" | bigint,
): void {
  const { memory } = session;
  if (gasBack === "all") memory.copy64(globals.gasBack, request.gas);
  else memory.set64(globals.gasBack, gasBack === "none" ? 0n : gasBack);
  if (session.tracer) traceExit(session, frameResult, session.depth + 1);
  returnToCaller(
    session,
    frameResult,
    memory.get32(request.opcode),
    memory.get32(request.target),
    memory.get32(request.output),
    memory.get32(request.outputSize),
  );
}

/** Gives the running frame gas, return data, output and result word of the call or creation it made; without a running frame the execution is over. */
function returnToCaller(
  session: Session,
  frameResult: FrameResult,
  opcode: number,
  created: number,
  target: number,
  targetSize: number,
): void {
  const { memory, journal } = session;
  if (session.depth < 0) {
    session.frameResult = frameResult;
    return;
  }
  memory.add64(frame.gas, globals.gasBack);
  const isCreation = opcode === CREATE || opcode === CREATE2;
  // A creation leaves return data only when it reverts (EIP-211).
  const size = isCreation && frameResult.outcome !== "revert" ? 0 : frameResult.outputSize;
  memory.set32(frame.returnDataSize, size);
  if (size > 0) {
    const returnData = memoryEnd(session);
    journal.copy(returnData, frameResult.output, size);
    memory.set32(frame.returnData, returnData);
    if (targetSize > 0) {
      journal.copy(target, returnData, Math.min(size, targetSize));
    }
  }
  const result = memory.get32(frame.sp);
  if (frameResult.outcome !== "success") memory.setSmallWord(result, 0);
  else if (isCreation) memory.copyWord(result, created + record.key);
  else memory.setSmallWord(result, 1);
}
