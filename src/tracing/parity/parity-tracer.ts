import type { Address } from "../../primitives/address.ts";
import { type Hash, hashFromBigint } from "../../primitives/hash.ts";
import { bytesToHex } from "../../primitives/hex.ts";
import type { Account } from "../../state/account.ts";
import type { AccountChange, StateChanges, StateReader } from "../../state/reader.ts";
import { type CallFrame, FrameTreeRecorder } from "../call-frames.ts";
import { type FlatStyle, flatTraces, locationMembers } from "../flat-call-tracer.ts";
import { InvalidTracerError } from "../trace-budget.ts";
import type { TracedTransaction, TracerConfig, TracerFactory } from "../tracer-config.ts";
import { createVmTraceRecorder } from "./vm-trace.ts";

export const PARITY_TRACE_TYPES = ["trace", "vmTrace", "stateDiff"] as const;
export type ParityTraceType = (typeof PARITY_TRACE_TYPES)[number];

/** Which frames `trace_filter` returns. */
export type FrameFilter = {
  readonly from?: readonly Address[];
  readonly to?: readonly Address[];
  /** A frame matches by either end, or by both. */
  readonly mode?: "union" | "intersection";
};

/** Without `types`, the flat list alone, each frame with its position in the chain. */
type ParityTracerConfig = {
  readonly types?: readonly ParityTraceType[];
  readonly filter?: FrameFilter;
};

/** `parityTracer`: what the `trace_*` methods of OpenEthereum, Erigon and reth show of a transaction. */
export const parityTracer: TracerFactory = (config, traced) => {
  const { types, filter } = readConfig(config);
  const frames = new FrameTreeRecorder(traced.budget);
  const vm = types?.has("vmTrace") ? createVmTraceRecorder(traced) : undefined;
  const style: FlatStyle = {
    isParity: true,
    isParityTrace: true,
    isShown: (frame) => !isPlainPrecompileCall(frame, traced),
    location: types ? "" : locationMembers(traced),
  };
  const traces = (): string => {
    const top = frames.top();
    if (!top) return "[]";
    const gas = { gas: top.start.gas, gasUsed: top.end.gasUsed };
    const texts: string[] = [];
    for (const { frame, text } of flatTraces(top, gas, style)) {
      if (!filter || matches(frame, filter)) texts.push(text);
    }
    return `[${texts.join(",")}]`;
  };
  return {
    needsChanges: types?.has("stateDiff") || vm !== undefined,
    hooks: {
      ...frames.hooks,
      ...(vm && { onEnter: vm.onEnter, onExit: vm.onExit, onStep: vm.onStep }),
    },
    result(outcome) {
      if (!types) return traces();
      const output = outcome.result.outcome === "halt" ? "0x" : bytesToHex(outcome.result.returnData);
      const diff = types.has("stateDiff") ? stateDiffText(outcome.changes(), traced.state) : "null";
      return (
        `{"output":"${output}","stateDiff":${diff},"trace":${types.has("trace") ? traces() : "[]"}` +
        `,"vmTrace":${vm ? vm.text(outcome) : "null"}}`
      );
    },
  };
};

/** A call of a precompile that moves no ether is no trace, as in the clients that have these methods. */
function isPlainPrecompileCall(
  { start: { type, to, value }, parent }: CallFrame,
  { precompiles }: TracedTransaction,
): boolean {
  const isCreation = type === "CREATE" || type === "CREATE2" || type === "SELFDESTRUCT";
  return !isCreation && value === 0n && parent !== undefined && precompiles.has(to);
}

function matches({ start, end }: CallFrame, filter: ReadFilter): boolean {
  const { from, to, isIntersection } = filter;
  if (!from && !to) return true;
  const isCreation = start.type === "CREATE" || start.type === "CREATE2";
  const isFrom = from?.has(start.from);
  const isTo = to && (!isCreation || end.outcome === "success") && to.has(start.to);
  return isIntersection ? isFrom !== false && isTo !== false : isFrom === true || isTo === true;
}

type ReadFilter = {
  readonly from: ReadonlySet<Address> | undefined;
  readonly to: ReadonlySet<Address> | undefined;
  readonly isIntersection: boolean;
};

function readConfig(config: TracerConfig): {
  readonly types: ReadonlySet<ParityTraceType> | undefined;
  readonly filter: ReadFilter | undefined;
} {
  const { types, filter } = config as ParityTracerConfig;
  const lists: readonly unknown[] = [types, filter?.from, filter?.to];
  if (!lists.every((list) => list === undefined || Array.isArray(list))) {
    throw new InvalidTracerError("types, from and to are lists");
  }
  const unknown = types?.find((type) => !PARITY_TRACE_TYPES.includes(type));
  if (unknown !== undefined) throw new InvalidTracerError(`unknown type of trace: ${unknown}`);
  return {
    types: types && new Set(types),
    filter: filter && {
      from: filter.from && new Set(filter.from),
      to: filter.to && new Set(filter.to),
      isIntersection: filter.mode === "intersection",
    },
  };
}

/**
 * `stateDiff`: every account that changed, by address. Each member is "=" (unchanged), `{"+": new}`, `{"-": old}` or
 * `{"*": {from, to}}`.
 */
function stateDiffText(changes: StateChanges, before: StateReader): string {
  const members: string[] = [];
  for (const change of changes.accounts) {
    const text = accountText(change, changes, before);
    if (text !== undefined) members.push(`"${change.address}":${text}`);
  }
  return `{${members.join(",")}}`;
}

/** undefined where nothing differs. */
function accountText(
  { address, account: after, storage }: AccountChange,
  { codes }: StateChanges,
  state: StateReader,
): string | undefined {
  const before = state.account(address);
  if (!before && !after) return undefined;
  const codeOf = ({ codeHash }: Account) => bytesToHex(codes.get(codeHash) ?? state.code(codeHash));
  const member = (textOf: (account: Account) => string) =>
    deltaText(before && textOf(before), after ? textOf(after) : undefined);
  const balance = member(({ balance }) => `0x${balance.toString(16)}`);
  const nonce = member(({ nonce }) => `0x${nonce.toString(16)}`);
  const isSameCode = before && after && before.codeHash === after.codeHash;
  const code = isSameCode ? UNCHANGED : member(codeOf);
  const slots: string[] = [];
  for (const [slot, value] of storage) {
    const old = before ? state.storage(address, slot) : 0n;
    if (old === value) continue;
    slots.push(`"${slot}":${slotText(before && old, after ? value : undefined)}`);
  }
  if ([balance, nonce, code].every((text) => text === UNCHANGED) && slots.length === 0) {
    return undefined;
  }
  return `{"balance":${balance},"code":${code},"nonce":${nonce},"storage":{${slots.join(",")}}}`;
}

const UNCHANGED = '"="';

function slotText(before: bigint | undefined, after: bigint | undefined): string {
  const word = (value: bigint | undefined): Hash | undefined =>
    value === undefined ? undefined : hashFromBigint(value);
  return deltaText(word(before), word(after));
}

function deltaText(before: string | undefined, after: string | undefined): string {
  if (before === after) return UNCHANGED;
  if (before === undefined) return `{"+":"${after}"}`;
  if (after === undefined) return `{"-":"${before}"}`;
  return `{"*":{"from":"${before}","to":"${after}"}}`;
}
