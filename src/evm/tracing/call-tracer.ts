import { revertReason } from "../execution/call/call-errors.ts";
import { haltText } from "../machine/halts.ts";
import type { FrameStart, Tracer } from "../machine/tracer.ts";
import { type CallFrame, CallFrameRecorder, type FrameTables, FrameTreeRecorder } from "./call-frames.ts";
import type { JsonWriter } from "./json-writer.ts";
import type { TracerFactory } from "./tracer-config.ts";
import { readSwitches } from "./tracer-config.ts";

/** `callTracer`: the tree of calls with what each was given, used and gave. */
export function createCallTracer(tables: FrameTables): TracerFactory {
  return (config, { message, logsBefore, budget }) => {
    const switches = readSwitches("callTracer", config, ["onlyTopCall", "withLog"]);
    const { onlyTopCall: isTopOnly, withLog: withLogs } = switches;
    const recorder = isTopOnly
      ? topRecorder(withLogs, new CallFrameRecorder(logsBefore, budget))
      : new FrameTreeRecorder(budget, tables, withLogs);
    return {
      hooks: recorder.hooks,
      dispose: () => recorder.dispose?.(),
      write({ result }, out) {
        const top = recorder.top(logsBefore);
        if (!top) {
          out.text("{}");
          return;
        }
        // The outermost frame stands for the whole transaction, with the gas before and after its code.
        const whole = { gas: message.gasLimit, gasUsed: result.gasUsed };
        writeFrame(top, { withLogs, whole, hasValue: ({ type }) => type !== "STATICCALL" }, out);
      },
    };
  };
}

/** Records only the outermost frame, and numbers its logs as if there were no others. */
function topRecorder(withLogs: boolean, recorder: CallFrameRecorder): FrameRecorder {
  return {
    hooks: {
      onEnter(start, depth) {
        if (depth === 0) recorder.onEnter(start);
      },
      onExit(end, depth) {
        if (depth === 0) recorder.onExit(end);
      },
      ...(withLogs && {
        onLog(log, depth) {
          if (depth === 0) recorder.onLog(log);
        },
      }),
    },
    top: () => recorder.top,
  };
}

type FrameRecorder = {
  readonly hooks: Tracer;
  top(logsBefore: number): CallFrame | undefined;
  dispose?(): void;
};

/** How a tree of frames is written. */
type FrameStyle = {
  readonly withLogs: boolean;
  /** Gas of the outermost frame, which is that of the transaction. */
  readonly whole: FrameGas;
  /** Whether `value` is shown. */
  readonly hasValue: (start: FrameStart) => boolean;
  /** Members after `callTracer`'s, each after a comma. */
  readonly moreOf?: (frame: CallFrame) => string;
};

type FrameGas = { readonly gas: bigint; readonly gasUsed: bigint };

/** Writes JSON of a frame and those below it. Text in pieces: to join them and read the whole again takes longer than the tree. */
export function writeFrame(top: CallFrame, style: FrameStyle, out: JsonWriter): void {
  writeTree(top, style, false, style.whole, out);
}

function writeTree(frame: CallFrame, style: FrameStyle, isInsideFailed: boolean, gas: FrameGas, out: JsonWriter): void {
  const { start, end, calls, logs } = frame;
  const { type, from, to, input, value } = start;
  const hasFailed = end.outcome !== "success";
  const isCreation = type === "CREATE" || type === "CREATE2";
  out.parts('{"type":"', type, '","from":"', from, '","gas":', gas.gas, ',"gasUsed":', gas.gasUsed);
  if (!(hasFailed && isCreation)) out.parts(',"to":"', to, '"');
  out.parts(',"input":', input);
  if (end.outcome !== "halt" && end.output.length > 0) out.parts(',"output":', end.output);
  out.text(failureText(end));
  if (calls.length > 0) {
    out.text(',"calls":');
    for (const [i, call] of calls.entries()) {
      out.text(i === 0 ? "[" : ",");
      const own = { gas: call.start.gas, gasUsed: call.end.gasUsed };
      writeTree(call, style, hasFailed || isInsideFailed, own, out);
    }
    out.text("]");
  }
  // What a failed frame logged never happened, nor what was logged below it.
  if (style.withLogs && logs.length > 0 && !hasFailed && !isInsideFailed) writeLogs(logs, out);
  if (style.hasValue(start)) out.parts(',"value":', value);
  if (style.moreOf !== undefined) out.text(style.moreOf(frame));
  out.text("}");
}

function failureText({ outcome, halt, output }: CallFrame["end"]): string {
  if (outcome === "success") return "";
  if (outcome === "halt" && halt) return `,"error":${JSON.stringify(haltText(halt))}`;
  const reason = revertReason(output);
  return `,"error":"execution reverted"${!reason ? "" : `,"revertReason":${JSON.stringify(reason)}`}`;
}

function writeLogs(logs: CallFrame["logs"], out: JsonWriter): void {
  out.text(',"logs":');
  for (const [i, { log, index, position }] of logs.entries()) {
    out.parts(i === 0 ? '[{"address":"' : ',{"address":"', log.address, '","topics":[');
    for (const [n, topic] of log.topics.entries()) out.parts(n === 0 ? '"' : ',"', topic, '"');
    out.parts('],"data":', log.data, ',"index":', BigInt(index), ',"position":', BigInt(position), "}");
  }
  out.text("]");
}
