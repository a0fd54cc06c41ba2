import { precompilesAt } from "../../evm/precompiles/index.ts";
import { blockContextOf } from "../../execution/block/block-context.ts";
import type { CallModules, CallTarget } from "../../execution/call/call.ts";
import { applyMessage } from "../../execution/transaction/apply-message.ts";
import { messageFromTransaction } from "../../execution/transaction/message.ts";
import { decodePooledTransaction } from "../../types/transaction/decode.ts";
import { recoverSender } from "../../types/transaction/sender.ts";
import { orTracingFailed } from "../errors.ts";
import { type TraceOptions, traceMessage } from "../trace-message.ts";
import type { TraceText } from "../trace-text.ts";

/**
 * The trace of a signed transaction as if it came next after `target`'s block, nothing is stored.
 * @throws as traceMessage, TracingFailedError where the transaction is not valid there, and the decoder's rejections
 */
export function traceRawTransaction(
  raw: Uint8Array,
  { header, blockHash, state }: CallTarget,
  { config, evm }: CallModules,
  options: TraceOptions,
): TraceText {
  const { budget, memoryBytesMax } = options;
  const block = blockContextOf(header, config, blockHash);
  const { tx } = decodePooledTransaction(raw);
  const sender = orTracingFailed(() => recoverSender(tx, block.hardfork));
  const message = messageFromTransaction(tx, sender, block.baseFeePerGas);
  const traced = {
    ...{ message, block, state, logsBefore: 0 },
    precompiles: precompilesAt(block.hardfork),
  };
  const gasPool = { gas: header.gasLimit, blobGas: 2n ** 64n };
  return traceMessage(traced, options, (tracer, own) =>
    orTracingFailed(() =>
      applyMessage(
        message,
        { evm, block, state: own, gasPool },
        {
          ...{ tracer, deadlineMs: budget.deadlineMs },
          ...(memoryBytesMax !== undefined && { memoryBytesMax }),
        },
      ),
    ),
  ).text();
}
