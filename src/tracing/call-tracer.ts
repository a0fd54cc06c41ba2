import { haltText } from "../evm/halts.ts";
import type { FrameStart, Tracer } from "../evm/tracer.ts";
import { revertReason } from "../execution/call/call-errors.ts";
import { bytesToHex } from "../primitives/hex.ts";
import { type CallFrame, type CallFrameRecorder, createCallFrameRecorder, FrameTreeRecorder } from "./call-frames.ts";
import type { TracerFactory } from "./tracer-config.ts";
import { readSwitches } from "./tracer-config.ts";

/** `callTracer`: the tree of calls with what each was given, used and gave. */
export const callTracer: TracerFactory = (config, { message, logsBefore, budget }) => {
  const switches = readSwitches("callTracer", config, ["onlyTopCall", "withLog"]);
  const { onlyTopCall: isTopOnly, withLog: withLogs } = switches;
  const recorder =
    isTopOnly || withLogs
      ? recorderWith({ isTopOnly, withLogs }, createCallFrameRecorder(logsBefore, budget))
      : new FrameTreeRecorder(budget);
  return {
    hooks: recorder.hooks,
    result({ result }) {
      const top = recorder.top();
      if (!top) return "{}";
      // The outermost frame stands for the whole transaction, with the gas before and after its code.
      const whole = { gas: message.gasLimit, gasUsed: result.gasUsed };
      return frameText(top, { withLogs, whole, hasValue: ({ type }) => type !== "STATICCALL" });
    },
  };
};

function recorderWith(
  { isTopOnly, withLogs }: { readonly isTopOnly: boolean; readonly withLogs: boolean },
  recorder: CallFrameRecorder,
): { readonly hooks: Tracer; top(): CallFrame | undefined } {
  const isRecorded = (depth: number) => depth === 0 || !isTopOnly;
  return {
    hooks: {
      onEnter(start, depth) {
        if (isRecorded(depth)) recorder.onEnter(start);
      },
      onExit(end, depth) {
        if (isRecorded(depth)) recorder.onExit(end);
      },
      ...(withLogs && {
        onLog(log, depth) {
          if (isRecorded(depth)) recorder.onLog(log);
        },
      }),
    },
    top: recorder.top,
  };
}

/** How a tree of frames is written. */
type FrameStyle = {
  readonly withLogs: boolean;
  /** Gas of the outermost frame, which is that of the transaction. */
  readonly whole: FrameGas;
  /** Whether `value` is shown. */
  readonly hasValue: (start: FrameStart) => boolean;
  /** Members after those of `callTracer`, each after a comma. */
  readonly moreOf?: (frame: CallFrame) => string;
};

type FrameGas = { readonly gas: bigint; readonly gasUsed: bigint };

/** JSON text of a frame and those below it. */
export function frameText(top: CallFrame, style: FrameStyle): string {
  return textOf(top, style, false, style.whole);
}

function textOf(frame: CallFrame, style: FrameStyle, isInsideFailed: boolean, gas: FrameGas): string {
  const { start, end, calls, logs } = frame;
  const { type, from, to, input, value } = start;
  const hasFailed = end.outcome !== "success";
  const isCreation = type === "CREATE" || type === "CREATE2";
  let text =
    `{"type":"${type}","from":"${from}","gas":"0x${gas.gas.toString(16)}"` +
    `,"gasUsed":"0x${gas.gasUsed.toString(16)}"`;
  if (!(hasFailed && isCreation)) text += `,"to":"${to}"`;
  text += `,"input":"${bytesToHex(input)}"`;
  const keepsOutput = end.outcome !== "halt" && end.output.length > 0;
  if (keepsOutput) text += `,"output":"${bytesToHex(end.output)}"`;
  text += failureText(end);
  if (calls.length > 0) {
    const texts = calls.map((call) =>
      textOf(call, style, hasFailed || isInsideFailed, {
        gas: call.start.gas,
        gasUsed: call.end.gasUsed,
      }),
    );
    text += `,"calls":[${texts.join(",")}]`;
  }
  // What a failed frame logged never happened, nor what was logged below it.
  if (style.withLogs && logs.length > 0 && !hasFailed && !isInsideFailed) {
    text += `,"logs":[${logs.map(logText).join(",")}]`;
  }
  if (style.hasValue(start)) text += `,"value":"0x${value.toString(16)}"`;
  return `${text}${style.moreOf?.(frame) ?? ""}}`;
}

function failureText({ outcome, halt, output }: CallFrame["end"]): string {
  if (outcome === "success") return "";
  if (outcome === "halt" && halt) return `,"error":${JSON.stringify(haltText(halt))}`;
  const reason = revertReason(output);
  return `,"error":"execution reverted"${!reason ? "" : `,"revertReason":${JSON.stringify(reason)}`}`;
}

function logText({ log, index, position }: CallFrame["logs"][number]): string {
  const topics = log.topics.map((topic) => `"${topic}"`).join(",");
  return (
    `{"address":"${log.address}","topics":[${topics}],"data":"${bytesToHex(log.data)}"` +
    `,"index":"0x${index.toString(16)}","position":"0x${position.toString(16)}"}`
  );
}
