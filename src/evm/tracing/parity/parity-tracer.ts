import type { Address } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../../base/primitives/hash.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import type { Account } from "../../state/account.ts";
import type { AccountChange, StateChanges, StateReader } from "../../state/reader.ts";
import { type CallFrame, type FrameTables, FrameTreeRecorder } from "../call-frames.ts";
import { type FlatStyle, locationMembers, writeFlatTraces, writeTraces } from "../flat-call-tracer.ts";
import type { JsonWriter } from "../json-writer.ts";
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

/** Without `types`, only the flat list, each frame with its position in the chain. */
type ParityTracerConfig = {
  readonly types?: readonly ParityTraceType[];
  readonly filter?: FrameFilter;
};

/** `parityTracer`: what the `trace_*` methods of OpenEthereum, Erigon and reth show of a transaction. */
export function createParityTracer(tables: FrameTables): TracerFactory {
  return (config, traced) => {
    const { types, filter } = readConfig(config);
    const frames = new FrameTreeRecorder(traced.budget, tables);
    const vm = types?.has("vmTrace") ? createVmTraceRecorder(traced) : undefined;
    const style = {
      ...parityStyle(traced, types ? "" : locationMembers(traced)),
      ...(filter && { isListed: (frame: CallFrame) => matches(frame, filter) }),
    };
    const writeList = (out: JsonWriter) => {
      const top = frames.top();
      writeFlatTraces(top, gasOf(top), style, out);
    };
    return {
      needsChanges: types?.has("stateDiff") || vm !== undefined,
      hooks: {
        ...frames.hooks,
        ...(vm && { onEnter: vm.onEnter, onExit: vm.onExit, onStep: vm.onStep }),
      },
      dispose: () => frames.dispose(),
      write(outcome, out) {
        if (!types) {
          writeList(out);
          return;
        }
        const output = outcome.result.outcome === "halt" ? EMPTY_BYTES : outcome.result.returnData;
        const stateDiff = types.has("stateDiff") ? stateDiffText(outcome.changes(), traced.state) : "null";
        out.parts('{"output":', output, ',"stateDiff":', stateDiff, ',"trace":');
        if (types.has("trace")) writeList(out);
        else out.text("[]");
        out.parts(',"vmTrace":', vm ? vm.text(outcome) : "null", "}");
      },
    };
  };
}

/** The tracer of a block whose transactions write their frames into one list. */
export class BlockFrames {
  readonly #tables: FrameTables;
  #isEmpty = true;

  constructor(tables: FrameTables) {
    this.#tables = tables;
  }

  /** As `parityTracer` without configuration, but for the list around the frames. */
  readonly factory: TracerFactory = (_config, traced) => {
    const frames = new FrameTreeRecorder(traced.budget, this.#tables);
    return {
      hooks: frames.hooks,
      dispose: () => frames.dispose(),
      write: (_outcome, out) => {
        const top = frames.top();
        if (top === undefined) return;
        const style = parityStyle(traced, locationMembers(traced));
        this.#isEmpty = writeTraces(top, gasOf(top), style, [], out, this.#isEmpty);
      },
    };
  };
}

function parityStyle(traced: TracedTransaction, location: string): FlatStyle {
  const isShown = (frame: CallFrame) => !isPlainPrecompileCall(frame, traced);
  return { isParity: true, isParityTrace: true, isShown, location };
}

/** Of the code of the outermost frame, as these clients have it. */
function gasOf(top: CallFrame | undefined) {
  return { gas: top?.start.gas ?? 0n, gasUsed: top?.end.gasUsed ?? 0n };
}

/** A precompile call without ether is not traced, as in the clients that have these methods. */
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
