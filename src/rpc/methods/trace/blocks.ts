import { invariant } from "../../../base/errors.ts";
import { hardforkAt } from "../../../base/params/hardforks.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import { blockReward } from "../../../evm/execution/block/rewards.ts";
import { textString } from "../../../evm/tracing/json-writer.ts";
import { blockSelector } from "../../ports/block-selector.ts";
import type { ChainConstants } from "../../ports/chain-view.ts";
import type { ExecutionPort, TraceRequest, TransactionTrace } from "../../ports/execution.ts";
import { rawJson } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";
import { quantityText } from "../json/write.ts";
import { replayRequest, traceTypes } from "./transactions.ts";

/** JSON texts of the traces of a block, without the brackets around all of them. Genesis has none. */
export async function blockTraces(
  { block: { hash, transactions } }: ExecutedBlock,
  execution: Pick<ExecutionPort, "traceBlock">,
  request: TraceRequest,
): Promise<string[]> {
  if (transactions.length === 0) return [];
  const traces = await execution.traceBlock({ at: hash, request });
  return traces.map((trace) => resultOf(trace).slice(1, -1)).filter((text) => text !== "");
}

/** The trace of a native tracer, which always has one. */
export function resultOf(trace: TransactionTrace): string {
  invariant("result" in trace, "only scripts fail alone");
  return textString(trace.result);
}

/** A proof-of-work block pays its miner and the miners of its uncles: one trace each. */
export type Reward = { readonly author: string; readonly text: string };

export function rewardTraces({ block }: ExecutedBlock, { config }: Pick<ChainConstants, "config">): Reward[] {
  const { header, hash, uncles } = block;
  const reward = header.number === 0 ? 0n : blockReward(hardforkAt(config, header), header.difficulty);
  if (reward === 0n) return [];
  const trace = (author: string, rewardType: "block" | "uncle", value: bigint): Reward => ({
    author,
    text:
      `{"action":{"author":"${author}","rewardType":"${rewardType}","value":${quantityText(value)}}` +
      `,"blockHash":"${hash}","blockNumber":${header.number},"result":null,"subtraces":0` +
      `,"traceAddress":[],"transactionHash":null,"transactionPosition":null,"type":"reward"}`,
  });
  return [
    trace(header.coinbase, "block", reward + (reward / 32n) * BigInt(uncles.length)),
    ...uncles.map(({ coinbase, number }) =>
      trace(coinbase, "uncle", (reward * BigInt(number + 8 - header.number)) / 8n),
    ),
  ];
}

/**
 * `trace_block`: every frame of every transaction of a block, then the rewards of a proof-of-work block; null for an unknown block.
 *
 * @throws TracingTimeoutError, TraceTooLargeError, PendingUnavailableError
 * @see OpenEthereum's trace module
 */
export const traceBlock = defineMethod({
  name: "trace_block",
  params: { block: blockSelector },
  example: ["latest"],
  result: rawJson,
  heavy: true,
  async handle({ block }, { chain, execution }) {
    // The pending block is not stored, so its transactions cannot be executed again.
    const executed = await chain.block({ at: block === "pending" ? "latest" : block });
    if (!executed) return "null";
    const { hash, transactions } = executed.block;
    const frames = transactions.length === 0 ? "[]" : await execution.traceBlockFrames({ at: hash });
    const rewards = rewardTraces(executed, chain).map(({ text }) => text);
    if (rewards.length === 0) return frames;
    const ofTransactions = textString(frames).slice(1, -1);
    return `[${[...(ofTransactions === "" ? [] : [ofTransactions]), ...rewards].join(",")}]`;
  },
});

/**
 * `trace_replayBlockTransactions`: as `trace_replayTransaction` for each transaction of a block, with its hash; null for an unknown block.
 *
 * @throws TracingTimeoutError, TraceTooLargeError, PendingUnavailableError
 */
export const replayBlockTransactions = defineMethod({
  name: "trace_replayBlockTransactions",
  params: { block: blockSelector, types: traceTypes },
  example: ["latest", ["trace", "stateDiff"]],
  result: rawJson,
  heavy: true,
  async handle({ block, types }, { chain, execution }, context) {
    const executed = await chain.block({ at: block === "pending" ? "latest" : block });
    if (!executed) return "null";
    const { hash, transactions } = executed.block;
    if (transactions.length === 0) return "[]";
    const traces = await execution.traceBlock({
      at: hash,
      request: replayRequest(types),
      cancel: context,
    });
    const texts = traces.map((trace) => `${resultOf(trace).slice(0, -1)},"transactionHash":"${trace.txHash}"}`);
    return `[${texts.join(",")}]`;
  },
});
