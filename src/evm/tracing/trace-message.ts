import { invariant } from "../../base/errors.ts";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { BlockForkField, TimeForkField } from "../../base/params/hardforks.ts";
import type { CallResult } from "../execution/transaction/apply-message.ts";
import type { Tracer } from "../machine/tracer.ts";
import type { StateChanges } from "../state/reader.ts";
import { createWorldState, type WorldState } from "../state/world-state.ts";
import { type JsonWriter, type TraceText, textLength } from "./json-writer.ts";
import type { TracerLookup } from "./native-tracers.ts";
import { createStructLogger, type StructLogConfig } from "./struct-logger.ts";
import type { CountedBudget, TraceBudget } from "./trace-budget.ts";
import { ScriptFailedError, TracingFailedError, TracingTimeoutError } from "./trace-budget.ts";
import type {
  TracedOutcome,
  TracedTransaction,
  TracerConfig,
  TracerFactory,
  TransactionTracer,
} from "./tracer-config.ts";
import { textOf } from "./tracer-config.ts";

/** How a caller wants a transaction traced. */
export type TraceOptions = StructLogConfig & {
  /** Absent: the struct logger */
  readonly tracer?: string;
  readonly tracerConfig?: TracerConfig;
  /** Finds the tracer that the caller names; needed unless there is a `factory`. */
  readonly tracers?: TracerLookup;
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
type RunTraced<Result> = (tracer: Tracer, state: WorldState) => Result;

/** Destination of a trace's text, and the text before it. */
export type TraceSink = { readonly out: JsonWriter; readonly head: string };

/**
 * Runs one transaction or call under the tracer that `options` name.
 * @param world the state it comes next on, where there is one: it is changed unless the tracer needs the changes
 * @param sink absent: the text is in the result
 * @returns the trace, and result and changes of the transaction
 * @throws InvalidTracerError, TracingTimeoutError, TraceTooLargeError, and what `run` throws
 */
export function traceMessage<Result extends CallResult>(
  traced: TracedTransaction & { readonly budget: CountedBudget },
  options: TraceOptions,
  run: RunTraced<Result>,
  world?: WorldState,
  sink?: TraceSink,
): TracedMessage<Result> {
  const { budget } = options;
  budget.assertInTime();
  const tracer = attempt(() => tracerOf(options, traced));
  try {
    const needsChanges = !(tracer instanceof ScriptFailedError) && tracer.needsChanges === true;
    const isApplied = world !== undefined && !needsChanges;
    const state = isApplied ? world : createWorldState(traced.state);
    const result = tracer instanceof ScriptFailedError ? runWithout(tracer, run, state) : run(tracer.hooks, state);
    if (result.halt?.kind === "timeout") throw new TracingTimeoutError(budget.timeoutMs);
    // Made only for those that look: an account whose storage was replaced lists every slot it had.
    let known: StateChanges | undefined;
    const changes = () => {
      invariant(!isApplied, "the changes are in the state already");
      known ??= state.changes();
      return known;
    };
    const outcome = { result, after: state.asReader(), changes };
    const shown = tracer instanceof ScriptFailedError ? tracer : attempt(() => show(tracer, outcome, sink));
    // What the tracer counted as it went along is part of the text.
    if (!(shown instanceof ScriptFailedError)) {
      const chars = typeof shown === "number" ? shown : textLength(shown);
      budget.take(Math.max(0, chars - traced.budget.taken));
    }
    const text = () => {
      if (shown instanceof ScriptFailedError) throw shown;
      return typeof shown === "number" ? "" : shown;
    };
    return { text, result, isApplied, changes };
  } finally {
    if (!(tracer instanceof ScriptFailedError)) tracer.dispose?.();
  }
}

/** A script that cannot begin leaves the transaction as it is; of one that cannot begin either, the script's fault comes first. */
function runWithout<Result>(fault: ScriptFailedError, run: RunTraced<Result>, state: WorldState): Result {
  try {
    return run({}, state);
  } catch (error) {
    throw error instanceof TracingFailedError ? fault : error;
  }
}

/** A message that was run under a tracer. */
type TracedMessage<Result> = {
  /**
   * JSON; empty where it was written to a sink.
   * @throws ScriptFailedError when the caller's script could not make it; the transaction ran anyway
   */
  text(): TraceText;
  readonly result: Result;
  /** The changes are in `world` already; `changes` must not be called. */
  readonly isApplied: boolean;
  changes(): StateChanges;
};

function tracerOf(options: TraceOptions, traced: TracedTransaction): TransactionTracer {
  const { tracer, factory, tracerConfig = {}, tracers } = options;
  if (factory) return factory(tracerConfig, traced);
  if (tracer === undefined) return createStructLogger(options, traced);
  invariant(tracers, "a tracer with a name, and nothing to find it in");
  return tracers(tracer)(tracerConfig, traced);
}

/** The text, or the bytes that were written to `sink`. @throws ScriptFailedError; nothing was written then */
function show(tracer: TransactionTracer, outcome: TracedOutcome, sink: TraceSink | undefined): TraceText | number {
  if (sink === undefined) return textOf(tracer, outcome);
  const { out, head } = sink;
  const text = "result" in tracer ? tracer.result(outcome) : undefined;
  out.text(head);
  const begin = out.length;
  if (text !== undefined) out.append(text);
  else if ("write" in tracer) tracer.write(outcome, out);
  return out.length - begin;
}

function attempt<T>(run: () => T): T | ScriptFailedError {
  try {
    return run();
  } catch (error) {
    if (error instanceof ScriptFailedError) return error;
    throw error;
  }
}
