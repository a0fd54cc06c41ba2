import { defineMethod } from "../dispatch/method.ts";
import { blockSelector } from "../params/block-selector.ts";
import { rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { blockTraces, rewardTraces } from "./block-traces.ts";
import { LOCALIZED } from "./trace-types.ts";

/**
 * `trace_block`: every frame of every transaction of a block, then the rewards of a proof-of-work block; null for an unknown block.
 *
 * @throws TracingTimeoutError, TraceTooLargeError, PendingUnavailableError
 * @see OpenEthereum's trace module
 */
export const traceBlock = defineMethod({
  name: "trace_block",
  params: { block: blockSelector },
  result: rawJson,
  heavy: true,
  async handle(
    { block },
    {
      chain,
      execution,
    }: {
      chain: Pick<ChainView, "block" | "config" | "genesisHash">;
      execution: Pick<ExecutionPort, "traceBlock">;
    },
  ) {
    // The pending block is not stored, so its transactions cannot be executed again.
    const executed = await chain.block(block === "pending" ? "latest" : block);
    if (!executed) return "null";
    const rewards = rewardTraces(executed, chain).map(({ text }) => text);
    return `[${[...(await blockTraces(executed, execution, LOCALIZED)), ...rewards].join(",")}]`;
  },
});
