import { haltText } from "../evm/halt-text.ts";
import { opcodeName } from "../evm/opcodes.ts";
import type { FrameEnd, Step } from "../evm/tracer.ts";
import { bytesToHex, hexDigits } from "../primitives/hex.ts";
import type { StructLogConfig } from "./struct-logger.ts";
import type { TracedTransaction, TransactionTracer } from "./transaction-tracer.ts";

/** Standard traces (EIP-3155) as geth writes them: a line of JSON for each step, and one for the end of each frame. */
export function createJsonLogger(
  config: StructLogConfig,
  { budget }: Pick<TracedTransaction, "budget">,
): TransactionTracer {
  const lines: string[] = [];
  const add = (line: string) => {
    budget.take(line.length);
    lines.push(line);
  };
  return {
    hooks: {
      onStep: (step) => add(stepLine(step, config)),
      onExit: (end) => add(endLine(end)),
    },
    result: () => lines.join(""),
  };
}

function stepLine(step: Step, config: StructLogConfig): string {
  const memory = step.memory();
  const returnData = config.enableReturnData ? step.returnData() : undefined;
  const stack = step.stack().map((word) => `"0x${word.toString(16)}"`);
  return (
    `{"pc":${step.pc},"op":${step.opcode},"gas":"0x${step.gas.toString(16)}","gasCost":"0x${step.gasCost.toString(16)}"` +
    (config.enableMemory && memory.length > 0 ? `,"memory":"${bytesToHex(memory)}"` : "") +
    `,"memSize":${memory.length},"stack":${config.disableStack ? "null" : `[${stack}]`}` +
    (returnData && returnData.length > 0 ? `,"returnData":"${bytesToHex(returnData)}"` : "") +
    `,"depth":${step.depth + 1},"refund":${step.refund},"opName":"${opcodeName(step.opcode)}"` +
    `${step.halt ? `,"error":${JSON.stringify(haltText(step.halt))}` : ""}}\n`
  );
}

function endLine({ output, gasUsed, outcome, halt }: FrameEnd): string {
  const error = halt ? haltText(halt) : outcome === "revert" ? "execution reverted" : undefined;
  return (
    `{"output":"${hexDigits(output)}","gasUsed":"0x${gasUsed.toString(16)}"` +
    `${error === undefined ? "" : `,"error":${JSON.stringify(error)}`}}\n`
  );
}
