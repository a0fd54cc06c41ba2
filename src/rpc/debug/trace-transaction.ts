import { defineMethod } from "../dispatch/method.ts";
import { hash, optional, rawJson } from "../params/codec.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { traceConfig } from "./trace-config.ts";

/**
 * `debug_traceTransaction`: a mined transaction executed again under the tracer in `config`.
 *
 * @throws NotTraceableError, InvalidTracerError, TracingTimeoutError
 * @see execution-apis `src/debug/tracing.yaml`
 */
export const traceTransaction = defineMethod({
  name: "debug_traceTransaction",
  params: { transactionHash: hash, config: optional(traceConfig, {}) },
  result: rawJson,
  heavy: true,
  handle: (
    { transactionHash, config },
    { execution }: { execution: Pick<ExecutionPort, "traceTransaction"> },
    context,
  ) => execution.traceTransaction(transactionHash, config, context),
});
