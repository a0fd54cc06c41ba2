import type { Tracer } from "../evm/tracer.ts";
import type { MessageResult } from "../execution/transaction/apply-message.ts";
import type { ChainConfig } from "../params/chain-config.ts";
import type { BlockForkField, TimeForkField } from "../params/hardfork-at.ts";
import type { StateChanges } from "../state/reader.ts";
import { createWorldState, type WorldState } from "../state/world-state.ts";
import { TracingTimeoutError } from "./errors.ts";
import { tracerNamed } from "./native-tracers.ts";
import { createStructLogger, type StructLogConfig } from "./struct-logger.ts";
import type { TracedTransaction, TracerConfig } from "./transaction-tracer.ts";

/** How a caller wants a transaction traced. */
export type TraceOptions = StructLogConfig & {
  /** Absent: the struct logger */
  readonly tracer?: string;
  readonly tracerConfig?: TracerConfig;
  /** For one transaction */
  readonly timeoutMs: number;
  readonly memoryBytesMax?: number;
  /** Forks of the chain's configuration that the traced part takes to be at another block or time. */
  readonly configOverrides?: ConfigOverrides;
};

export type ConfigOverrides = Partial<Pick<ChainConfig, BlockForkField | TimeForkField>>;

/** Runs the message on a state of its own, watched by `tracer`. */
export type RunTraced = (tracer: Tracer, state: WorldState) => MessageResult;

/**
 * Runs one transaction or call under the tracer that `options` name.
 * @returns JSON text of the trace, what the transaction came to and what it changed
 * @throws InvalidTracerError, TracingTimeoutError, TraceTooLargeError, and what `run` throws
 */
export function traceMessage(
  traced: TracedTransaction,
  options: TraceOptions,
  run: RunTraced,
): { readonly text: string; readonly result: MessageResult; readonly changes: StateChanges } {
  const { tracer: name, tracerConfig = {}, timeoutMs } = options;
  const tracer = name ? tracerNamed(name)(tracerConfig, traced) : createStructLogger(options);
  const state = createWorldState(traced.state);
  const result = run(tracer.hooks, state);
  if (result.halt?.kind === "timeout") throw new TracingTimeoutError(timeoutMs);
  let known: StateChanges | undefined;
  // Made only for tracers and callers that look: an account whose storage was replaced lists every slot it had.
  const changes = () => {
    known ??= state.changes();
    return known;
  };
  const text = tracer.result({
    result,
    get changes() {
      return changes();
    },
  });
  return {
    text,
    result,
    get changes() {
      return changes();
    },
  };
}
