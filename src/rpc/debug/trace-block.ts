import type { ChainReader } from "../../chain/reader.ts";
import { NotTraceableError } from "../../tracing/errors.ts";
import type { Block, ExecutedBlock } from "../../types/block.ts";
import { decodeBlock } from "../../types/block-codec.ts";
import { defineMethod } from "../dispatch/method.ts";
import { blockNumberOrTag } from "../params/block-selector.ts";
import { data, hash, optional, rawJson } from "../params/codec.ts";
import type { TraceExecutor, TraceRequest } from "../ports/execution.ts";
import { findByNumber } from "../ports/resolve.ts";
import { traceConfig } from "./trace-config.ts";

type TracingModules = { readonly chain: ChainReader; readonly tracing: TraceExecutor };

/**
 * `debug_traceBlockByNumber`: what happened in each transaction of a block of the chain.
 *
 * @throws NotTraceableError, InvalidTracerError, TracingTimeoutError
 * @see execution-apis `src/debug/tracing.yaml`
 */
export const traceBlockByNumber = defineMethod({
  name: "debug_traceBlockByNumber",
  params: { block: blockNumberOrTag, config: optional(traceConfig, {}) },
  result: rawJson,
  heavy: true,
  handle({ block, config }, modules: TracingModules) {
    if (block === "pending") {
      throw new NotTraceableError("tracing on top of pending is not supported");
    }
    const executed = findByNumber(modules.chain, block);
    if (!executed) throw new NotTraceableError(`block #${block} not found`);
    return traceExecuted(executed, config, modules);
  },
});

/**
 * `debug_traceBlockByHash`: the same, the block by its hash.
 *
 * @throws as debug_traceBlockByNumber
 */
export const traceBlockByHash = defineMethod({
  name: "debug_traceBlockByHash",
  params: { blockHash: hash, config: optional(traceConfig, {}) },
  result: rawJson,
  heavy: true,
  handle({ blockHash, config }, modules: TracingModules) {
    const executed = modules.chain.blockByHash(blockHash);
    if (!executed) throw new NotTraceableError(`block ${blockHash} not found`);
    return traceExecuted(executed, config, modules);
  },
});

/**
 * `debug_traceBlock`: the same for a block given as RLP, of which only the parent must be known.
 *
 * @throws as debug_traceBlockByNumber
 */
export const traceBlock = defineMethod({
  name: "debug_traceBlock",
  params: { rlp: data, config: optional(traceConfig, {}) },
  result: rawJson,
  heavy: true,
  handle({ rlp, config }, modules: TracingModules) {
    const block = decodeOrRefuse(rlp);
    const { parentHash, number } = block.header;
    if (number === 0) throw new NotTraceableError("genesis is not traceable");
    if (!modules.chain.blockByHash(parentHash)) {
      throw new NotTraceableError(`parent ${parentHash} not found`);
    }
    return textOf(block, undefined, config, modules);
  },
});

function traceExecuted(
  { block, senders }: ExecutedBlock,
  config: TraceRequest,
  modules: TracingModules,
): Promise<string> {
  if (block.header.number === 0) throw new NotTraceableError("genesis is not traceable");
  return textOf(block, senders, config, modules);
}

async function textOf(
  block: Block,
  senders: ExecutedBlock["senders"] | undefined,
  config: TraceRequest,
  { tracing }: TracingModules,
): Promise<string> {
  const traces = await tracing.traceBlock(block, senders, config);
  const entries = block.transactions.map(
    ({ hash: txHash }, i) => `{"txHash":"${txHash}","result":${traces[i]}}`,
  );
  return `[${entries.join(",")}]`;
}

function decodeOrRefuse(rlp: Uint8Array): Block {
  try {
    return decodeBlock(rlp);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NotTraceableError(`could not decode block: ${reason}`, {}, { cause });
  }
}
