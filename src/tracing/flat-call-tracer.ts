import { haltText } from "../evm/halt-text.ts";
import { bytesToHex } from "../primitives/hex.ts";
import { type CallFrame, createCallFrameRecorder } from "./call-frames.ts";
import type { TracedTransaction, TracerFactory } from "./transaction-tracer.ts";

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

/** `flatCallTracer`: the tree of calls as Parity's flat list, each with its address in the tree. */
export const flatCallTracer: TracerFactory = (config, traced) => {
  const recorder = createCallFrameRecorder(0, traced.budget);
  const isParity = config["convertParityErrors"] === true;
  const keepsPrecompiles = config["includePrecompiles"] === true;
  const isShown = ({ start: { type, to } }: CallFrame): boolean =>
    keepsPrecompiles || !(type === "CALL" || type === "STATICCALL") || !traced.precompiles.has(to);

  function* flatten(
    frame: CallFrame,
    address: readonly number[],
    gas: { readonly gas: bigint; readonly gasUsed: bigint },
  ): Generator<string> {
    const calls = frame.calls.filter(isShown);
    yield flatText(frame, gas, address, calls.length, { traced, isParity });
    for (const [i, call] of calls.entries()) {
      const own = { gas: call.start.gas, gasUsed: call.end.gasUsed };
      yield* flatten(call, [...address, i], own);
    }
  }

  return {
    hooks: { onEnter: recorder.onEnter, onExit: recorder.onExit },
    result({ result: { gasUsed } }) {
      const top = recorder.top();
      if (!top) return "[]";
      const whole = { gas: traced.message.gasLimit, gasUsed };
      return `[${[...flatten(top, [], whole)].join(",")}]`;
    },
  };
};

function flatText(
  frame: CallFrame,
  gas: { readonly gas: bigint; readonly gasUsed: bigint },
  traceAddress: readonly number[],
  subtraces: number,
  { traced, isParity }: { readonly traced: TracedTransaction; readonly isParity: boolean },
): string {
  const { start, end } = frame;
  const { type, from, to, input, value } = start;
  const wei = `"0x${value.toString(16)}"`;
  const gasText = `"0x${gas.gas.toString(16)}"`;
  const usedText = `"0x${gas.gasUsed.toString(16)}"`;
  const output = bytesToHex(end.output);
  const { place, block } = traced;
  const tail =
    `,"subtraces":${subtraces},"traceAddress":[${traceAddress}]` +
    `,"transactionHash":${place ? `"${place.hash}"` : "null"}` +
    `,"transactionPosition":${place?.index ?? 0}` +
    `,"blockHash":${place ? `"${place.blockHash}"` : "null"},"blockNumber":${place ? block.number : 0}`;
  const failure = errorOf(end, isParity);
  const error = failure === undefined ? "" : `,"error":${JSON.stringify(failure)}`;
  const hasResult = end.outcome !== "halt";
  if (type === "SELFDESTRUCT") {
    const action = `{"address":"${from}","balance":${wei},"refundAddress":"${to}"}`;
    return `{"action":${action}${error}${tail},"type":"suicide"}`;
  }
  if (type === "CREATE" || type === "CREATE2") {
    const action =
      `{"creationMethod":"${type.toLowerCase()}","from":"${from}","gas":${gasText}` +
      `,"init":"${bytesToHex(input)}","value":${wei}}`;
    const address = end.outcome === "success" ? `"address":"${to}",` : "";
    const result = hasResult
      ? `,"result":{${address}"code":"${output}","gasUsed":${usedText}}`
      : "";
    return `{"action":${action}${error}${result}${tail},"type":"create"}`;
  }
  const action =
    `{"callType":"${type.toLowerCase()}","from":"${from}","gas":${gasText}` +
    `,"input":"${bytesToHex(input)}","to":"${to}","value":${wei}}`;
  const result = hasResult ? `,"result":{"gasUsed":${usedText},"output":"${output}"}` : "";
  return `{"action":${action}${error}${result}${tail},"type":"call"}`;
}

function errorOf({ outcome, halt }: CallFrame["end"], isParity: boolean): string | undefined {
  if (outcome === "success") return undefined;
  const text = halt ? haltText(halt) : "execution reverted";
  if (!isParity) return text;
  return PARITY_ERRORS.find(([prefix]) => text.startsWith(prefix))?.[1] ?? text;
}
