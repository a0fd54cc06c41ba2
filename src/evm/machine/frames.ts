import { frameOutcome } from "./halts.ts";
import { traceExit } from "./hooks/trace-frames.ts";
import { placedSize } from "./memory/code-cache.ts";
import { FRAME_STRIDE, FRAMES, frame, globals, request } from "./memory/layout.ts";
import { align32, type FrameResult, LinearMemoryExhausted, revertFrame, type Session } from "./session.ts";

/** Saves the running frame and begins one above it for the message call in `request`. The code comes with `useCachedCode`. */
export function pushCall(session: Session, snapshot: number): void {
  const saved = enterDepth(session);
  session.journal.beginCall(saved, snapshot);
  session.logs.markFrame();
}

/**
 * As `pushCall` for a creation: account, caller, value and static are as in the parent until they are set. The code comes
 * with `useOwnCode`.
 */
export function pushFrame(session: Session, snapshot: number): void {
  const saved = enterDepth(session);
  session.journal.pushFrame(saved, snapshot);
  session.logs.markFrame();
}

/** Where the registers of the running frame are to be saved; 0 without one. */
function enterDepth(session: Session): number {
  const saved = session.depth < 0 ? 0 : FRAMES + session.depth * FRAME_STRIDE;
  session.depth++;
  return saved;
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

/**
 * Ends the running frame: undoes it unless it succeeded, returns to its parent and passes it the result.
 * @param shown what tracers get
 */
export function popFrame(
  session: Session,
  frameResult: FrameResult,
  keepsChanges: boolean,
  shown: FrameResult = frameResult,
): void {
  const { memory } = session;
  if (!keepsChanges) revertFrame(session);
  if (session.rules.eip8037) session.journal.leaveFrame(frameOutcome[frameResult.outcome]);
  else if (frameResult.outcome === "halt") memory.set64(globals.gasBack, 0n);
  else memory.copy64(globals.gasBack, frame.gas);
  if (session.tracer) traceExit(session, shown, session.depth);
  session.depth--;
  if (session.depth < 0) {
    session.frameResult = frameResult;
    return;
  }
  const saved = FRAMES + session.depth * FRAME_STRIDE;
  const { outcome, output, outputSize } = frameResult;
  session.journal.popFrame(saved, frameOutcome[outcome], output, outputSize);
}

/** A call or creation ends before it became a frame; `gasBack` is what its caller gets back of its gas. */
export function endWithoutFrame(session: Session, frameResult: FrameResult, gasBack: "all" | "none" | bigint): void {
  const { memory } = session;
  if (gasBack === "all") memory.copy64(globals.gasBack, request.gas);
  else memory.set64(globals.gasBack, gasBack === "none" ? 0n : gasBack);
  if (session.tracer) traceExit(session, frameResult, session.depth + 1);
  if (session.depth < 0) {
    memory.set64(globals.spilledBack, 0n);
    session.frameResult = frameResult;
    return;
  }
  const { outcome, output, outputSize } = frameResult;
  session.journal.endRequest(frameOutcome[outcome], output, outputSize);
}
