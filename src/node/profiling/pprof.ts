import { encodeMessage, message, repeated, single } from "../../consensus/cometbft/abci/protobuf.ts";

/** The sum of the samples at one stack. */
export type StackSample = {
  /** One value per type of the profile. */
  readonly values: readonly number[];
  /** As V8 prints it, including the first line with the error. */
  readonly stack: string;
  /** The top of the stack: what the code waited for. */
  readonly leaf: string;
};

export type PprofOptions = {
  readonly types: readonly { readonly type: string; readonly unit: string }[];
  /** Sampling period: one of this many events is in the profile. */
  readonly period: number;
  /** Unix milliseconds */
  readonly beginMs: number;
  readonly durationMs: number;
};

const valueType = message({ type: single(1, "int64"), unit: single(2, "int64") });
const line = message({ functionId: single(1, "uint64"), line: single(2, "int64") });
const location = message({ id: single(1, "uint64"), line: repeated(4, line) });
const functionType = message({
  id: single(1, "uint64"),
  name: single(2, "int64"),
  systemName: single(3, "int64"),
  filename: single(4, "int64"),
});
const sample = message({ locationId: repeated(1, "uint64"), value: repeated(2, "int64") });

/** https://github.com/google/pprof/blob/main/proto/profile.proto */
export const pprofProfile = message({
  sampleType: repeated(1, valueType),
  sample: repeated(2, sample),
  location: repeated(4, location),
  function: repeated(5, functionType),
  stringTable: repeated(6, "string"),
  timeNanos: single(9, "int64"),
  durationNanos: single(10, "int64"),
  periodType: single(11, valueType),
  period: single(12, "int64"),
});

type Frame = { readonly name: string; readonly file: string; readonly line: number };

/** A stack line of V8: `    at name (file:line:column)`, or without name and parentheses. */
const FRAME = /^\s+at (?:(.*?) \()?(?:file:\/\/)?(.*?):(\d+):\d+\)?$/;

function framesOf({ stack, leaf }: StackSample): Frame[] {
  const found = stack.split("\n").flatMap((text) => {
    const [, name = "(anonymous)", file, number] = FRAME.exec(text) ?? [];
    return file === undefined ? [] : [{ name, file, line: Number(number) }];
  });
  return [{ name: leaf, file: "", line: 0 }, ...found];
}

/** An uncompressed profile for `go tool pprof`. */
export function encodePprof(samples: readonly StackSample[], options: PprofOptions): Uint8Array {
  const strings = new Numbered<string>((text) => text);
  strings.of("");
  const functions = new Numbered<Frame>(({ name, file }) => `${file} ${name}`);
  const locations = new Numbered<Frame>(({ name, file, line }) => `${file} ${name} ${line}`);
  const string = (text: string) => BigInt(strings.of(text));
  const types = options.types.map(({ type, unit }) => ({ type: string(type), unit: string(unit) }));
  const encoded = samples.map((each) => ({
    // Ids begin at 1.
    locationId: framesOf(each).map((frame) => BigInt(locations.of(frame) + 1)),
    value: each.values.map((value) => BigInt(Math.round(value))),
  }));
  const location = locations.all.map((frame, i) => ({
    id: BigInt(i + 1),
    line: [{ functionId: BigInt(functions.of(frame) + 1), line: BigInt(frame.line) }],
  }));
  const named = functions.all.map(({ name, file }, i) => ({
    id: BigInt(i + 1),
    name: string(name),
    systemName: string(name),
    filename: string(file),
  }));
  return encodeMessage(pprofProfile, {
    sampleType: types,
    sample: encoded,
    location,
    function: named,
    stringTable: strings.all,
    timeNanos: BigInt(options.beginMs) * 1_000_000n,
    durationNanos: BigInt(Math.round(options.durationMs * 1e6)),
    periodType: types[0]!,
    period: BigInt(options.period),
  });
}

/** Values by number, in order of their first use. */
class Numbered<T> {
  readonly all: T[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #keyOf: (value: T) => string;

  constructor(keyOf: (value: T) => string) {
    this.#keyOf = keyOf;
  }

  of(value: T): number {
    const key = this.#keyOf(value);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.all.length);
    return this.all.push(value) - 1;
  }
}
