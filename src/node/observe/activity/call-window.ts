import { NodeError } from "../../../base/errors.ts";
import { bytesToHex, type Hex, isData } from "../../../base/primitives/hex.ts";
import { AnvilError } from "../../../rpc/methods/dev/anvil-errors.ts";
import type { JsonText } from "../../../rpc/transport/codec.ts";
import type { RawParams } from "../../../rpc/transport/dispatch/message.ts";

/** Calls that the log buffers until it prints them. */
export const CALL_WINDOW_LIMITS = {
  /** Transaction submissions with a separate line. */
  sendsMax: 8,
  /** Distinct calls; the log only counts further ones. */
  entriesMax: 64,
  /** Characters of a method name. */
  methodCharsMax: 80,
  /** Characters of an error message. */
  messageCharsMax: 300,
  /** Bytes of calldata, revert data or a result that are decoded: about thirty arguments. */
  dataBytesMax: 1_024,
  /** Characters of a result that is printed in full: a hash. */
  resultCharsMax: 66,
} as const;

/** The contract and data of a call. */
export type CallTarget = { readonly to: string | undefined; readonly data: Hex };

/** Why a call failed. */
export type CallFailure = {
  readonly code: string;
  readonly message: string;
  /** The contract's revert data. */
  readonly data?: Hex;
  /** Details of the error that are numbers or short texts. */
  readonly facts: Readonly<Record<string, string>>;
};

/** Equal calls: same method, function, contract and outcome. Plain data, which other processes send. */
export type CallRecord = {
  readonly method: string;
  readonly target: CallTarget | undefined;
  /** The first of the calls. */
  readonly failed: CallFailure | undefined;
  /** The result of all calls; undefined if it differs or is long. */
  readonly result: string | undefined;
  /** The block parameter of a failed call, and the newest block at that time. */
  readonly block: string | undefined;
  readonly head: number | undefined;
  readonly count: number;
  readonly totalMs: number;
  /** Lines below that of the call. */
  readonly notes: readonly string[];
};

/** A record that still counts calls. */
type Entry = {
  readonly record: CallRecord;
  count: number;
  totalMs: number;
  /** The JSON of the result, while it is short enough and equal for all calls. */
  result: JsonText | undefined;
  notes: readonly string[];
};

/** Methods whose first parameter is a message to a contract. */
const WITH_TARGET: ReadonlySet<string> = new Set([
  "eth_call",
  "eth_estimateGas",
  "eth_createAccessList",
  "eth_sendTransaction",
  "eth_fillTransaction",
  "debug_traceCall",
]);

/** Namespaces whose results hold no secret. */
const SHOWN_RESULTS = /^(?:eth|net|web3|evm|anvil|hardhat|txpool)_/;

/** The calls since the log was last printed, grouped by equality. Costs one map lookup per call. */
export class CallWindow {
  readonly #entries = new Map<string, Entry>();
  #more = 0;
  #sends = 0;
  /** Number of the newest block, if known. */
  headNumber: () => number | undefined = () => undefined;

  get isEmpty(): boolean {
    return this.#entries.size === 0 && this.#more === 0;
  }

  /** Keys of its groups. */
  get keys(): Iterable<string> {
    return this.#entries.keys();
  }

  /** Adds a finished call. @returns its key if it begins a group */
  add(
    method: string,
    params: RawParams,
    milliseconds: number,
    result: JsonText | undefined,
    error: unknown,
  ): string | undefined {
    const key = this.#keyOf(method, params, error);
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.count++;
      known.totalMs += milliseconds;
      if (known.result !== result) known.result = undefined;
      return undefined;
    }
    if (this.#entries.size >= CALL_WINDOW_LIMITS.entriesMax) {
      this.#more++;
      return undefined;
    }
    const target = targetOf(method, params);
    const text = error === undefined ? resultText(method, target, result) : undefined;
    const record: CallRecord = {
      method: method.slice(0, CALL_WINDOW_LIMITS.methodCharsMax),
      target,
      failed: error === undefined ? undefined : failureOf(error),
      result: text,
      block: error === undefined ? undefined : blockOf(params),
      head: error === undefined ? undefined : this.headNumber(),
      count: 1,
      totalMs: milliseconds,
      notes: [],
    };
    this.#entries.set(key, {
      record,
      count: 1,
      totalMs: milliseconds,
      result: text === undefined ? undefined : result,
      notes: [],
    });
    return key;
  }

  /** Adds lines below the calls of group `key`, unless they are already printed. */
  note(key: string, notes: readonly string[]): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.notes = notes;
  }

  #keyOf(method: string, params: RawParams, error: unknown): string {
    const key = callKey(method, params);
    if (error !== undefined) return `${key}${failureKey(error)}`;
    // Each submission has a different hash.
    const isSend = method.startsWith("eth_send") && this.#sends < CALL_WINDOW_LIMITS.sendsMax;
    return isSend ? `${key} #${this.#sends++}` : key;
  }

  /** Adds calls that another process counted. @returns the keys of new groups */
  merge(records: readonly CallRecord[], more: number): string[] {
    this.#more += more;
    return records.flatMap((record) => {
      const key = keyOfRecord(record);
      const known = this.#entries.get(key);
      if (known !== undefined) {
        known.count += record.count;
        known.totalMs += record.totalMs;
        known.result = undefined;
        return [];
      }
      if (this.#entries.size >= CALL_WINDOW_LIMITS.entriesMax) {
        this.#more += record.count;
        return [];
      }
      const { count, totalMs, result, notes } = record;
      this.#entries.set(key, { record, count, totalMs, result, notes });
      return [key];
    });
  }

  /** Empties the window. `more`: calls that are in none of the records. */
  take(): { readonly records: readonly CallRecord[]; readonly more: number } {
    const records = Array.from(this.#entries.values(), ({ record, count, totalMs, result, notes }) => ({
      ...record,
      count,
      totalMs,
      notes,
      result: result === undefined ? undefined : record.result,
    }));
    const taken = { records, more: this.#more };
    this.#entries.clear();
    this.#more = 0;
    this.#sends = 0;
    return taken;
  }
}

function callKey(method: string, params: RawParams): string {
  if (!WITH_TARGET.has(method)) return method.slice(0, CALL_WINDOW_LIMITS.methodCharsMax);
  const { to, data, input } = messageOf(params);
  return targetKey(method, to, input ?? data);
}

function targetKey(method: string, to: unknown, data: unknown): string {
  return `${method} ${short(to, 42)} ${short(data, 10)}`;
}

function failureKey(error: unknown): string {
  if (!(error instanceof NodeError)) return " ✗";
  if (error instanceof AnvilError) return failureKey(error.cause);
  const { data } = error.details;
  const selector = data instanceof Uint8Array ? bytesToHex(data.subarray(0, 4)) : "";
  return ` ✗ ${short(error.message, CALL_WINDOW_LIMITS.messageCharsMax)} ${selector}`;
}

function keyOfRecord({ method, target, failed, count, result }: CallRecord): string {
  const key = target === undefined ? method : targetKey(method, target.to, target.data);
  if (method.startsWith("eth_send") && failed === undefined && count === 1) return `${key} ${result}`;
  return failed === undefined ? key : `${key} ✗ ${failed.message} ${short(failed.data, 10)}`;
}

function short(value: unknown, charsMax: number): string {
  return typeof value === "string" ? value.slice(0, charsMax) : "";
}

function messageOf(params: RawParams): { readonly to?: unknown; readonly data?: unknown; readonly input?: unknown } {
  const first = params?.[0];
  return typeof first === "object" && first !== null ? first : {};
}

function targetOf(method: string, params: RawParams): CallTarget | undefined {
  if (!WITH_TARGET.has(method)) return undefined;
  const { to, data, input } = messageOf(params);
  return { to: typeof to === "string" ? to.slice(0, 42) : undefined, data: hexOf(input ?? data) };
}

/** The bytes of `value` to decode; `0x` if it is not hex. */
function hexOf(value: unknown): Hex {
  if (typeof value !== "string") return "0x";
  const start = value.slice(0, 2 + 2 * CALL_WINDOW_LIMITS.dataBytesMax);
  return isData(start) ? (start as Hex) : "0x";
}

function blockOf(params: RawParams): string | undefined {
  const last = params?.at(-1);
  return typeof last === "string" && /^(?:0x[0-9a-f]{1,16}|[a-z]{4,9})$/i.test(last) ? last : undefined;
}

/** Text of a short result that is not an object; for contract calls, the part to decode. */
function resultText(method: string, target: CallTarget | undefined, result: JsonText | undefined): string | undefined {
  if (typeof result !== "string" || !SHOWN_RESULTS.test(method)) return undefined;
  const { dataBytesMax, resultCharsMax } = CALL_WINDOW_LIMITS;
  const charsMax = target === undefined ? resultCharsMax + 2 : 2 * dataBytesMax + 4;
  if (result.length > charsMax || /^[[{]/.test(result)) return undefined;
  return result.startsWith('"') ? result.slice(1, -1) : result;
}

/** Maximum length and number of an error's details. */
const FACT_CHARS_MAX = 100;
const FACTS_MAX = 8;

function failureOf(error: unknown): CallFailure {
  const { messageCharsMax, dataBytesMax } = CALL_WINDOW_LIMITS;
  if (!(error instanceof NodeError)) {
    return { code: "", message: "method handler crashed", facts: {} };
  }
  if (error instanceof AnvilError) return failureOf(error.cause);
  const { data, ...details } = error.details;
  const cause = error.cause instanceof NodeError ? error.cause.details : {};
  const facts = Object.entries({ ...cause, ...details })
    .filter(([, value]) => ["string", "number", "bigint"].includes(typeof value))
    .slice(0, FACTS_MAX)
    .map(([name, value]) => [name, String(value).slice(0, FACT_CHARS_MAX)]);
  return {
    code: error.code,
    message: error.message.slice(0, messageCharsMax),
    ...(data instanceof Uint8Array && { data: bytesToHex(data.subarray(0, dataBytesMax)) }),
    facts: Object.fromEntries(facts),
  };
}
