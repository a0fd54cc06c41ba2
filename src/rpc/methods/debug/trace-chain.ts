import { errorClassOf, NodeError } from "../../../base/errors.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import type { TraceText } from "../../../evm/tracing/json-writer.ts";
import { NotTraceableError } from "../../../evm/tracing/trace-budget.ts";
import { type BlockNumberOrTag, blockNumberOrTag } from "../../ports/block-selector.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import type { ExecutionPort, TraceRequest } from "../../ports/execution.ts";
import { optional } from "../../transport/codec.ts";
import { defineSubscription, subscriptionMethods } from "../define-subscription.ts";
import { joinedJson, quantityText } from "../json/write.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import type { Subscriber } from "../subscriptions/subscriber.ts";
import { traceConfig } from "./trace-config.ts";

type Range = { readonly start: number; readonly end: number };

/**
 * `traceChain`: `{block, hash, traces}` of every block after `start` up to `end` that has transactions, and of `end`. A block is
 * traced when the client has read the one before; a client that does not read delays only itself.
 *
 * @throws NotTraceableError, TooManyError
 */
const traceChain = defineSubscription({
  name: "traceChain",
  params: { start: blockNumberOrTag, end: blockNumberOrTag, config: optional(traceConfig, {}) },
  async check({ start, end }, { chain }) {
    const range = await rangeOf(start, end, chain);
    if (range.start >= range.end) {
      throw new NotTraceableError(`end block (#${range.end}) needs to come after start block (#${range.start})`);
    }
  },
  start({ start, end, config }, modules, subscriber) {
    const { traceChains } = modules.sessions;
    traceChains.begin();
    const cancel = new AbortController();
    let isRunning = false;
    subscriber.whenReleased(async () => {
      isRunning = true;
      try {
        const range = await rangeOf(start, end, modules.chain);
        await traceBlocks(range, config, modules, { subscriber, signal: cancel.signal });
      } catch (error) {
        traceChains.onError(error);
      } finally {
        traceChains.end();
      }
    });
    return () => {
      cancel.abort();
      // What runs counts until it has ended.
      if (!isRunning) traceChains.end();
    };
  },
});

/** `debug_subscribe` and `debug_unsubscribe`. */
export const debugSubscriptions = subscriptionMethods({
  namespace: "debug",
  known: [traceChain],
  example: ["traceChain", "0x0", "latest"],
});

async function rangeOf(
  start: BlockNumberOrTag,
  end: BlockNumberOrTag,
  chain: Pick<ChainView, "header">,
): Promise<Range> {
  return { start: await numberOf(start, chain), end: await numberOf(end, chain) };
}

async function numberOf(at: BlockNumberOrTag, chain: Pick<ChainView, "header">): Promise<number> {
  if (at === "pending") {
    throw new NotTraceableError("tracing on top of pending is not supported");
  }
  const found = await chain.header({ at });
  if (found === undefined) throw new NotTraceableError(`block #${at} not found`);
  return found.header.number;
}

/** Traces block by block, each once the client has read the previous trace. */
async function traceBlocks(
  { start, end }: Range,
  config: TraceRequest,
  { chain, execution }: ServingPorts,
  { subscriber, signal }: { readonly subscriber: Subscriber; readonly signal: AbortSignal },
): Promise<void> {
  const cancel = {
    signal,
    get isAborted() {
      return signal.aborted;
    },
  };
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  for (let number = start + 1; number <= end && !signal.aborted; number++) {
    const executed = await chain.block({ at: number });
    // The chain was rolled back meanwhile.
    if (executed === undefined) return;
    const { hash, transactions } = executed.block;
    if (transactions.length === 0 && number < end) continue;
    const traces = await tracesOf(executed, () => execution.traceBlockText({ at: hash, request: config, cancel }));
    if (signal.aborted) return;
    const head = `{"block":${quantityText(number)},"hash":"${hash}","traces":`;
    // Where the connection is closed, nothing is delivered any more.
    await Promise.race([subscriber.deliver(joinedJson(head, traces, "}")), aborted]);
  }
}

/** JSON of the traces of a block; where it cannot be traced, why, in the place of each. */
async function tracesOf(
  { block }: ExecutedBlock,
  trace: () => ReturnType<ExecutionPort["traceBlockText"]>,
): Promise<TraceText> {
  try {
    return await trace();
  } catch (error) {
    if (!(error instanceof NodeError) || errorClassOf(error) !== "caller") throw error;
    return JSON.stringify(block.transactions.map(({ hash }) => ({ txHash: hash, error: error.message })));
  }
}
