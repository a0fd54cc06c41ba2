import { defineMethod } from "../dispatch/method.ts";
import { hash, optional, rawJson } from "../params/codec.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { andThen } from "../ports/maybe-promise.ts";
import { traceConfig } from "./trace-config.ts";
import { tracesText } from "./traces-text.ts";

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
  handle: (
    { blockHash, config },
    { execution }: { execution: Pick<ExecutionPort, "traceBlock"> },
    context,
  ) => andThen(execution.traceBlock(blockHash, config, context), tracesText),
});
