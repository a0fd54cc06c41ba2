import { haltText } from "../evm/halts.ts";
import { bytesToHex } from "../primitives/hex.ts";
import { type CallFrame, FrameTreeRecorder } from "./call-frames.ts";
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
  /** Members that say where the transaction is, each after a comma; empty for a call. */
  readonly location: string;
};

type FrameGas = { readonly gas: bigint; readonly gasUsed: bigint };

/** One frame of the flat list, JSON text, with the frame it shows. */
type FlatTrace = { readonly frame: CallFrame; readonly text: string };

/** `flatCallTracer`: the tree of calls as Parity's flat list, each with its address in the tree. */
export const flatCallTracer: TracerFactory = (config, traced) => {
  const recorder = new FrameTreeRecorder(traced.budget);
  const names = ["convertParityErrors", "includePrecompiles"] as const;
  const switches = readSwitches("flatCallTracer", config, names);
  const style: FlatStyle = {
    isParity: switches.convertParityErrors,
    isParityTrace: false,
    isShown: ({ start: { type, to } }) =>
      switches.includePrecompiles || !(type === "CALL" || type === "STATICCALL") || !traced.precompiles.has(to),
    location: locationMembers(traced),
  };
  return {
    hooks: recorder.hooks,
    result({ result: { gasUsed } }) {
      const top = recorder.top();
      if (!top) return "[]";
      const whole = { gas: traced.message.gasLimit, gasUsed };
      return `[${[...flatTraces(top, whole, style)].map(({ text }) => text).join(",")}]`;
    },
  };
};

/** `frame` and every frame below it, in the order they began. */
export function* flatTraces(
  frame: CallFrame,
  gas: FrameGas,
  style: FlatStyle,
  address: readonly number[] = [],
): Generator<FlatTrace> {
  const calls = frame.calls.filter(style.isShown);
  yield { frame, text: flatText(frame, gas, address, calls.length, style) };
  for (const [i, call] of calls.entries()) {
    const own = { gas: call.start.gas, gasUsed: call.end.gasUsed };
    yield* flatTraces(call, own, style, [...address, i]);
  }
}

/** Where the transaction is in the chain, as members each after a comma; geth's zero values for a call. */
export function locationMembers({ place, block }: TracedTransaction): string {
  return (
    `,"transactionHash":${place ? `"${place.hash}"` : "null"}` +
    `,"transactionPosition":${place?.index ?? 0}` +
    `,"blockHash":${place ? `"${place.blockHash}"` : "null"},"blockNumber":${place ? block.number : 0}`
  );
}

function flatText(
  { start, end }: CallFrame,
  gas: FrameGas,
  traceAddress: readonly number[],
  subtraces: number,
  { isParity, isParityTrace, location }: FlatStyle,
): string {
  const { type, from, to, input, value } = start;
  const wei = `"0x${value.toString(16)}"`;
  const gasText = `"0x${gas.gas.toString(16)}"`;
  const usedText = `"0x${gas.gasUsed.toString(16)}"`;
  const output = bytesToHex(end.output);
  const tail = `,"subtraces":${subtraces},"traceAddress":[${traceAddress}]${location}`;
  const failure = errorOf(end, isParity, isParityTrace);
  const error = failure === undefined ? "" : `,"error":${JSON.stringify(failure)}`;
  const hasResult = end.outcome !== "halt";
  const noResult = isParityTrace ? ',"result":null' : "";
  if (type === "SELFDESTRUCT") {
    const action = `{"address":"${from}","balance":${wei},"refundAddress":"${to}"}`;
    return `{"action":${action}${error}${noResult}${tail},"type":"suicide"}`;
  }
  if (type === "CREATE" || type === "CREATE2") {
    const action =
      `{"creationMethod":"${type.toLowerCase()}","from":"${from}","gas":${gasText}` +
      `,"init":"${bytesToHex(input)}","value":${wei}}`;
    const address = isParityTrace || end.outcome === "success" ? `"address":"${to}",` : "";
    const result = hasResult ? `,"result":{${address}"code":"${output}","gasUsed":${usedText}}` : noResult;
    return `{"action":${action}${error}${result}${tail},"type":"create"}`;
  }
  const action =
    `{"callType":"${type.toLowerCase()}","from":"${from}","gas":${gasText}` +
    `,"input":"${bytesToHex(input)}","to":"${to}","value":${wei}}`;
  const result = hasResult ? `,"result":{"gasUsed":${usedText},"output":"${output}"}` : noResult;
  return `{"action":${action}${error}${result}${tail},"type":"call"}`;
}

function errorOf({ outcome, halt }: CallFrame["end"], isParity: boolean, isParityTrace: boolean): string | undefined {
  if (outcome === "success") return undefined;
  const text = halt ? haltText(halt) : "execution reverted";
  if (!isParity) return text;
  // geth's tracer calls it out of gas, because its gas function finds it.
  if (isParityTrace && text.endsWith("write protection")) return "Mutable Call In Static Context";
  return PARITY_ERRORS.find(([prefix]) => text.startsWith(prefix))?.[1] ?? text;
}
