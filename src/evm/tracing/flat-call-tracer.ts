import { haltText } from "../machine/halts.ts";
import type { FrameEnd } from "../machine/tracer.ts";
import { type CallFrame, type FrameTables, FrameTreeRecorder } from "./call-frames.ts";
import type { JsonWriter } from "./json-writer.ts";
import type { TracedTransaction, TracerFactory } from "./tracer-config.ts";
import { readSwitches } from "./tracer-config.ts";

/** Parity's words for what geth says of a failure. */
const PARITY_ERRORS: readonly (readonly [prefix: string, parity: string])[] = [
  ["contract creation code storage out of gas", "Out of gas"],
  ["out of gas", "Out of gas"],
  ["gas uint64 overflow", "Out of gas"],
  ["max code size exceeded", "Out of gas"],
  ["invalid jump destination", "Bad jump destination"],
  ["execution reverted", "Reverted"],
  ["return data out of bounds", "Out of bounds"],
  ["stack limit reached", "Out of stack"],
  ["stack underflow", "Stack underflow"],
  ["invalid opcode:", "Bad instruction"],
  ["invalid input length", "Built-in failed"],
];

/** How a tree of calls becomes a flat list. */
export type FlatStyle = {
  /** Failures in Parity's words. */
  readonly isParity: boolean;
  /**
   * As the `trace_*` methods of other clients have it, where geth's tracer differs: no result is `null`, a reverted creation has its
   * address, a change of state in a static call is named.
   */
  readonly isParityTrace: boolean;
  /** A frame that is not shown hides those below it. */
  readonly isShown: (frame: CallFrame) => boolean;
  /** Whether a shown frame is listed; its children are listed either way. Absent: all are listed. */
  readonly isListed?: (frame: CallFrame) => boolean;
  /** Members that say where the transaction is, each after a comma; empty for a call. */
  readonly location: string;
};

type FrameGas = { readonly gas: bigint; readonly gasUsed: bigint };

/** `flatCallTracer`: the tree of calls as Parity's flat list, each with its address in the tree. */
export function createFlatCallTracer(tables: FrameTables): TracerFactory {
  return (config, traced) => {
    const names = ["convertParityErrors", "includePrecompiles"] as const;
    const switches = readSwitches("flatCallTracer", config, names);
    const recorder = new FrameTreeRecorder(traced.budget, tables);
    const style: FlatStyle = {
      isParity: switches.convertParityErrors,
      isParityTrace: false,
      isShown: ({ start: { type, to } }) =>
        switches.includePrecompiles || !(type === "CALL" || type === "STATICCALL") || !traced.precompiles.has(to),
      location: locationMembers(traced),
    };
    return {
      hooks: recorder.hooks,
      dispose: () => recorder.dispose(),
      write({ result: { gasUsed } }, out) {
        writeFlatTraces(recorder.top(), { gas: traced.message.gasLimit, gasUsed }, style, out);
      },
    };
  };
}

/** Writes the list of `top` and every frame below it, in execution order; an empty list if none. */
export function writeFlatTraces(top: CallFrame | undefined, gas: FrameGas, style: FlatStyle, out: JsonWriter): void {
  out.text("[");
  if (top !== undefined) writeTraces(top, gas, style, [], out, true);
  out.text("]");
}

/**
 * Writes `frame` and every frame below it as members of a list.
 * @param isFirst nothing is in the list yet; the same of what comes next is returned
 */
export function writeTraces(
  frame: CallFrame,
  gas: FrameGas,
  style: FlatStyle,
  address: readonly number[],
  out: JsonWriter,
  isFirst: boolean,
): boolean {
  const calls = frame.calls.filter(style.isShown);
  let isEmpty = isFirst;
  if (style.isListed === undefined || style.isListed(frame)) {
    if (!isEmpty) out.text(",");
    isEmpty = false;
    writeTrace(frame, gas, address, calls.length, style, out);
  }
  for (const [i, call] of calls.entries()) {
    const own = { gas: call.start.gas, gasUsed: call.end.gasUsed };
    isEmpty = writeTraces(call, own, style, [...address, i], out, isEmpty);
  }
  return isEmpty;
}

/** Where the transaction is in the chain, as members each after a comma; geth's zero values for a call. */
export function locationMembers({ place, block }: TracedTransaction): string {
  return (
    `,"transactionHash":${place ? `"${place.hash}"` : "null"}` +
    `,"transactionPosition":${place?.index ?? 0}` +
    `,"blockHash":${place ? `"${place.blockHash}"` : "null"},"blockNumber":${place ? block.number : 0}`
  );
}

function writeTrace(
  { start, end }: CallFrame,
  gas: FrameGas,
  traceAddress: readonly number[],
  subtraces: number,
  style: FlatStyle,
  out: JsonWriter,
): void {
  const { isParityTrace, location } = style;
  const { type, from, to, input, value } = start;
  const isCreation = type === "CREATE" || type === "CREATE2";
  out.text('{"action":{');
  if (type === "SELFDESTRUCT") {
    out.parts('"address":"', from, '","balance":', value, ',"refundAddress":"', to, '"}');
  } else if (isCreation) {
    out.parts('"creationMethod":"', type.toLowerCase(), '","from":"', from, '","gas":', gas.gas);
    out.parts(',"init":', input, ',"value":', value, "}");
  } else {
    out.parts('"callType":"', type.toLowerCase(), '","from":"', from, '","gas":', gas.gas);
    out.parts(',"input":', input, ',"to":"', to, '","value":', value, "}");
  }
  const failure = errorOf(end, style);
  if (failure !== undefined) out.text(`,"error":${JSON.stringify(failure)}`);
  if (type === "SELFDESTRUCT" || end.outcome === "halt") {
    if (isParityTrace) out.text(',"result":null');
  } else if (isCreation) {
    out.text(',"result":{');
    if (isParityTrace || end.outcome === "success") out.parts('"address":"', to, '",');
    out.parts('"code":', end.output, ',"gasUsed":', gas.gasUsed, "}");
  } else out.parts(',"result":{"gasUsed":', gas.gasUsed, ',"output":', end.output, "}");
  out.text(',"subtraces":');
  out.decimal(subtraces);
  out.text(',"traceAddress":[');
  for (const [i, index] of traceAddress.entries()) {
    if (i > 0) out.text(",");
    out.decimal(index);
  }
  const kind = type === "SELFDESTRUCT" ? "suicide" : isCreation ? "create" : "call";
  out.parts("]", location, ',"type":"', kind, '"}');
}

function errorOf({ outcome, halt }: FrameEnd, { isParity, isParityTrace }: FlatStyle): string | undefined {
  if (outcome === "success") return undefined;
  const text = halt ? haltText(halt) : "execution reverted";
  if (!isParity) return text;
  // geth's tracer calls it out of gas, because its gas function finds it.
  if (isParityTrace && text.endsWith("write protection")) return "Mutable Call In Static Context";
  return PARITY_ERRORS.find(([prefix]) => text.startsWith(prefix))?.[1] ?? text;
}
