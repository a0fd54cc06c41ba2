import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { CallResult } from "../execution/transaction/apply-message.ts";
import type { TransactionMessage } from "../execution/transaction/message.ts";
import type { BlockContext } from "../machine/evm.ts";
import type { Precompile } from "../machine/state-port.ts";
import type { Tracer } from "../machine/tracer.ts";
import type { StateChanges, StateReader } from "../state/reader.ts";
import { JsonWriter, type TraceText } from "./json-writer.ts";
import { InvalidTracerError, type TraceBudget } from "./trace-budget.ts";

/** geth's types of the configurations, which its errors name; the other tracers take any and ignore it. */
const CONFIG_TYPES: Readonly<Record<string, string>> = {
  callTracer: "native.callTracerConfig",
  erc7562Tracer: "native.erc7562TracerConfig",
  flatCallTracer: "native.flatCallTracerConfig",
  muxTracer: "map[string]json.RawMessage",
  prestateTracer: "native.PrestateTracerConfig",
};

/**
 * The configuration in the JSON value `value`.
 * @throws InvalidTracerError unless it is an object or null
 */
export function tracerConfigOf(tracer: string, value: unknown): TracerConfig {
  if (value === null || value === undefined) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value as TracerConfig;
  const type = CONFIG_TYPES[tracer];
  if (type === undefined) return {};
  throw new InvalidTracerError(`json: cannot unmarshal ${kindOf(value)} into Go value of type ${type}`);
}

/**
 * The switches of `tracer`, false where `config` does not set them.
 * @throws InvalidTracerError if it is not a boolean
 */
export function readSwitches<Name extends string>(
  tracer: string,
  config: TracerConfig,
  names: readonly Name[],
): Readonly<Record<Name, boolean>> {
  const switches = {} as Record<Name, boolean>;
  for (const name of names) {
    const value = config[name] ?? false;
    if (typeof value !== "boolean") {
      const field = `${CONFIG_TYPES[tracer]?.replace("native.", "")}.${name}`;
      throw new InvalidTracerError(
        `json: cannot unmarshal ${kindOf(value)} into Go struct field ${field} of type bool`,
      );
    }
    switches[name] = value;
  }
  return switches;
}

/** Go's word for the JSON type of `value`. */
export function kindOf(value: unknown): string {
  if (typeof value === "boolean") return "bool";
  return Array.isArray(value) ? "array" : typeof value;
}

/** What a tracer may know of the transaction or call before it begins. */
export type TracedTransaction = {
  readonly message: TransactionMessage;
  readonly block: BlockContext;
  readonly precompiles: ReadonlyMap<Address, Precompile>;
  /** The state before it; stays that state. */
  readonly state: StateReader;
  /** Logs of the transactions before it in the block. */
  readonly logsBefore: number;
  /** For the text, counted while it grows. */
  readonly budget: Pick<TraceBudget, "take" | "assertInTime">;
  /** Absent for a call. */
  readonly place?: { readonly blockHash: Hash; readonly hash: Hash; readonly index: number };
};

/** How it ended. */
export type TracedOutcome = {
  readonly result: CallResult;
  /** The state after it. */
  readonly after: StateReader;
  /** What lies between; only for a tracer that `needsChanges`. */
  changes(): StateChanges;
};

export type TransactionTracer = {
  readonly hooks: Tracer;
  /** Its text needs `changes`; others cost less. */
  readonly needsChanges?: boolean;
  /** Gives back what the tracer holds; called once at the end, whatever happened. */
  dispose?(): void;
} & (MakesText | WritesText);

/** JSON of what was seen; asked for once, when the transaction is over. */
type MakesText = { result(outcome: TracedOutcome): TraceText };
/** The same, written after what is there: a block has many short ones. It does not fail as a script may. */
type WritesText = { write(outcome: TracedOutcome, out: JsonWriter): void };

/** JSON of what `tracer` saw. @throws ScriptFailedError */
export function textOf(tracer: TransactionTracer, outcome: TracedOutcome): TraceText {
  if ("result" in tracer) return tracer.result(outcome);
  const out = new JsonWriter();
  tracer.write(outcome, out);
  return out.finishText();
}

/** Makes a tracer of its `tracerConfig`. */
export type TracerFactory = (config: TracerConfig, traced: TracedTransaction) => TransactionTracer;

/** `tracerConfig` as JSON gave it. */
export type TracerConfig = Readonly<Record<string, unknown>>;
