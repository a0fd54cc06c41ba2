import type { Tracer } from "../evm/tracer.ts";
import type { MessageResult } from "../execution/transaction/apply-message.ts";
import type { ChainConfig } from "../params/chain-config.ts";
import type { BlockForkField, TimeForkField } from "../params/hardfork-at.ts";
import type { StateChanges } from "../state/reader.ts";
import { createWorldState, type WorldState } from "../state/world-state.ts";
import { TracingTimeoutError } from "./errors.ts";
import { tracerNamed } from "./native-tracers.ts";
import { createStructLogger, type StructLogConfig } from "./struct-logger.ts";
import type { TraceBudget } from "./trace-budget.ts";
import type { TracedTransaction, TracerConfig, TracerFactory } from "./transaction-tracer.ts";

/** How a caller wants a transaction traced. */
export type TraceOptions = StructLogConfig & {
  /** Absent: the struct logger */
  readonly tracer?: string;
  readonly tracerConfig?: TracerConfig;
  /** In place of a tracer with a name. */
  readonly factory?: TracerFactory;
  /** Shared by everything that one request traces. */
  readonly budget: TraceBudget;
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
  traced: Omit<TracedTransaction, "budget">,
  options: TraceOptions,
  run: RunTraced,
): { readonly text: string; readonly result: MessageResult; readonly changes: StateChanges } {
  const { tracer: name, factory, tracerConfig = {}, budget } = options;
  budget.assertInTime();
  const counted = countedBudget(budget);
  const seen = { ...traced, budget: counted };
  const create = factory ?? (name === undefined ? undefined : tracerNamed(name));
  const tracer = create ? create(tracerConfig, seen) : createStructLogger(options, seen);
  const state = createWorldState(traced.state);
  const result = run(tracer.hooks, state);
  if (result.halt?.kind === "timeout") throw new TracingTimeoutError(budget.timeoutMs);
  // Made only for those that look: an account whose storage was replaced lists every slot it had.
  let known: StateChanges | undefined;
  const changes = () => {
    known ??= state.changes();
    return known;
  };
  const text = tracer.result({
    result,
    after: state.asReader(),
    get changes() {
      return changes();
    },
  });
  // What the tracer counted as it went along is part of the text.
  if (text.length > counted.taken()) budget.take(text.length - counted.taken());
  return {
    text,
    result,
    get changes() {
      return changes();
    },
  };
}

/** `budget` that also knows what was taken through it. */
function countedBudget(budget: TraceBudget): Pick<TraceBudget, "take"> & { taken(): number } {
  let taken = 0;
  return {
    take(chars) {
      taken += chars;
      budget.take(chars);
    },
    taken: () => taken,
  };
}
