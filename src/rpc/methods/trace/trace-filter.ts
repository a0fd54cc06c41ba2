import { setImmediate } from "node:timers/promises";
import type { FrameFilter } from "../../../evm/tracing/parity/parity-tracer.ts";
import { TraceTooLargeError } from "../../../evm/tracing/trace-budget.ts";
import { type BlockNumberOrTag, blockNumberOrTag } from "../../ports/block-selector.ts";
import { address, array, lenientInteger, object, rawJson, string } from "../../transport/codec.ts";
import { InvalidParamsError, RequestTimeoutError, TraceRangeError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { blockTraces, type Reward, rewardTraces } from "./blocks.ts";

const criteria = object("TraceFilter", {
  fromBlock: blockNumberOrTag,
  toBlock: blockNumberOrTag,
  fromAddress: array(address, "[]common.Address"),
  toAddress: array(address, "[]common.Address"),
  mode: string,
  after: lenientInteger,
  count: lenientInteger,
});

/**
 * `trace_filter`: the call frames of a range of blocks (all blocks by default) from any of `fromAddress` or to any of `toAddress`; both
 * must match if `mode` is "intersection". Skips `after` frames and returns at most `count`.
 *
 * @throws InvalidParamsError, TraceRangeError for too many blocks, TraceTooLargeError, TracingTimeoutError, RequestTimeoutError
 */
export const traceFilter = defineMethod({
  name: "trace_filter",
  params: { filter: criteria },
  example: [{ fromBlock: "0x0", toAddress: [SAMPLE.bob], mode: "union", count: 10 }],
  result: rawJson,
  heavy: true,
  async handle({ filter }, { chain, execution, settings }, context) {
    const { mode = "union", after = 0, count = Number.POSITIVE_INFINITY } = filter;
    if (mode !== "union" && mode !== "intersection") {
      throw new InvalidParamsError(`unknown mode ${JSON.stringify(mode)}`, "filter");
    }
    const head = (await chain.head()).header.number;
    const oldest = (await chain.oldest()).block;
    const numberOf = (block: BlockNumberOrTag) =>
      typeof block === "number" ? block : block === "earliest" ? oldest : head;
    const from = numberOf(filter.fromBlock ?? "earliest");
    const to = Math.min(numberOf(filter.toBlock ?? "latest"), head);
    const { blocksMax, bytesMax } = settings.traceFilter;
    if (from > to) throw new InvalidParamsError("fromBlock is after toBlock", "filter");
    if (to - from >= blocksMax) throw new TraceRangeError({ from, to, blocksMax });

    const frames: FrameFilter = {
      ...(filter.fromAddress?.length && { from: filter.fromAddress }),
      ...(filter.toAddress?.length && { to: filter.toAddress }),
      mode,
    };
    const request = { tracer: "parityTracer", tracerConfig: { filter: frames } };
    const found: string[] = [];
    let skipped = 0;
    let bytes = 0;
    for (let number = from; number <= to && found.length < count; number++) {
      // Other work has its turn between two blocks.
      await setImmediate();
      if (context.isAborted) throw new RequestTimeoutError();
      const executed = await chain.block({ at: number });
      // Rolled back since.
      if (!executed) break;
      const perTransaction = await blockTraces(executed, execution, request);
      const rewards = rewardTraces(executed, chain).filter((reward) => isWanted(reward, frames));
      const parts = perTransaction.flatMap((text) =>
        (JSON.parse(`[${text}]`) as readonly unknown[]).map((trace) => JSON.stringify(trace)),
      );
      for (const text of [...parts, ...rewards.map(({ text }) => text)]) {
        if (skipped < after) {
          skipped++;
          continue;
        }
        if (found.length >= count) break;
        bytes += text.length + 1;
        if (bytes > bytesMax) throw new TraceTooLargeError(bytesMax);
        found.push(text);
      }
    }
    return `[${found.join(",")}]`;
  },
});

/** A reward has no sender. */
function isWanted({ author }: Reward, { from, to, mode }: FrameFilter): boolean {
  if (from && (mode === "intersection" || !to)) return false;
  return !to || to.some((address) => address === author);
}
