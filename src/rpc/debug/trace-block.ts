import { defineMethod } from "../dispatch/method.ts";
import { data, optional, rawJson } from "../params/codec.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { andThen } from "../ports/maybe-promise.ts";
import { traceConfig } from "./trace-config.ts";
import { tracesText } from "./traces-text.ts";

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
  handle: (
    { rlp, config },
    { execution }: { execution: Pick<ExecutionPort, "traceRawBlock"> },
    context,
  ) => andThen(execution.traceRawBlock(rlp, config, context), tracesText),
});
