import { ERROR_CODES } from "../../../base/error-codes.ts";
import type { SimulatedBlock } from "../../../evm/execution/simulate/simulate.ts";
import type { SimulatedCall } from "../../../evm/execution/simulate/simulate-block.ts";
import { assertWithinLimits } from "../../../evm/execution/simulate/simulate-plan.ts";
import { blockSelector } from "../../ports/block-selector.ts";
import { array, boolean, object, optional, rawJson } from "../../transport/codec.ts";
import { InvalidParamsError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { blockText, type HeaderStyle } from "../json/block-json.ts";
import { logText } from "../json/receipt-json.ts";
import { dataText, quantityText } from "../json/write.ts";
import { simulatedBlockOverrides, simulatedCall, simulatedStateOverrides } from "../params/call-arguments.ts";

/** A call's EVM failed; the simulation went on. */
const VM_ERROR = -32015;

const simulationOptions = object(
  "simOpts",
  {
    blockStateCalls: array(
      object(
        "simBlock",
        {
          blockOverrides: simulatedBlockOverrides,
          stateOverrides: simulatedStateOverrides,
          calls: array(simulatedCall, "[]ethapi.TransactionArgs"),
        },
        "ethapi.simBlock",
        "ownFields",
      ),
      "[]ethapi.simBlock",
    ),
    traceTransfers: boolean,
    validation: boolean,
    returnFullTransactions: boolean,
  },
  "ethapi.simOpts",
  "fields",
);

/**
 * `eth_simulateV1`: executes hypothetical blocks after `block`, and returns each with the results of its calls. A call that fails inside
 * the EVM is a result; a call that breaks a transaction rule rejects the whole request.
 *
 * @throws InvalidParamsError for no blocks at all, SimulationError, UnknownBlockError, BlockNotCanonicalError, and what is
 *   wrong with overrides
 * @see execution-apis `src/eth/execute.yaml`
 */
export const simulateV1 = defineMethod({
  name: "eth_simulateV1",
  params: { options: simulationOptions, block: optional(blockSelector, "latest") },
  example: [{ blockStateCalls: [{ calls: [SAMPLE.call] }], traceTransfers: true }, "latest"],
  result: rawJson,
  heavy: true,
  async handle({ options, block }, { execution, sessions }, caller) {
    const { blockStateCalls = [], validation = false, traceTransfers = false } = options;
    if (blockStateCalls.length === 0) throw new InvalidParamsError("empty input", "options");
    assertWithinLimits(blockStateCalls);
    const blocks = blockStateCalls.map(({ calls = [], ...overrides }) => ({ calls, ...overrides }));
    const request = { blocks, validation, traceTransfers };
    const simulated = await execution.simulate({ request, at: block, cancel: caller });
    const { returnFullTransactions = false } = options;
    const { style } = sessions.blockJson;
    const texts = simulated.map((each) => simulatedText(each, returnFullTransactions, style));
    return `[${texts.join(",")}]`;
  },
});

function simulatedText({ executed, calls }: SimulatedBlock, isFull: boolean, style: HeaderStyle): string {
  const block = blockText(executed, isFull, style);
  const results = calls.map((call, index) => callText(call, index, executed));
  return `${block.slice(0, -1)},"calls":[${results.join(",")}]}`;
}

function callText(
  { returnData, logs, gasUsed, maxUsedGas, failure }: SimulatedCall,
  transactionIndex: number,
  { block }: SimulatedBlock["executed"],
): string {
  const logTexts = logs.map(({ log, index }) =>
    logText(log, {
      blockHash: block.hash,
      blockNumber: block.header.number,
      blockTimestamp: block.header.timestamp,
      transactionHash: block.transactions[transactionIndex]!.hash,
      transactionIndex,
      logIndex: index,
    }),
  );
  return (
    `{"returnData":${dataText(returnData)},"logs":[${logTexts.join(",")}]` +
    `,"gasUsed":${quantityText(gasUsed)},"maxUsedGas":${quantityText(maxUsedGas)}` +
    `,"status":"${failure ? "0x0" : "0x1"}"${failure ? `,"error":${failureText(failure)}` : ""}}`
  );
}

function failureText({ message, data }: NonNullable<SimulatedCall["failure"]>): string {
  const text = JSON.stringify(message);
  return data === undefined
    ? `{"message":${text},"code":${VM_ERROR}}`
    : `{"message":${text},"code":${ERROR_CODES.EXECUTION_REVERTED.number},"data":${dataText(data)}}`;
}
