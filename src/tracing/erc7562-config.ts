import { InvalidTracerError } from "./errors.ts";
import { kindOf, readSwitches } from "./tracer-config.ts";
import type { TracerConfig } from "./transaction-tracer.ts";

type Erc7562Config = {
  /** Opcodes that are not counted. */
  readonly ignoredOpcodes: ReadonlySet<number>;
  readonly withLog: boolean;
};

/** POP, PUSH, DUP, SWAP and the arithmetic that every contract uses. */
const IGNORED: ReadonlySet<number> = new Set([
  ...[
    0x01, 0x02, 0x03, 0x04, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x19, 0x1b, 0x1c, 0x50,
  ],
  ...range(0x5f, 0x7f),
  ...range(0x80, 0x8f),
  ...range(0x90, 0x9f),
]);

/**
 * `ignoredOpcodes` is a list of QUANTITY; `stackTopItemsSize` is checked and has no effect: nothing that geth shows depends on it.
 * @throws InvalidTracerError with Go's text
 */
export function readErc7562Config(config: TracerConfig): Erc7562Config {
  const { withLog } = readSwitches("erc7562Tracer", config, ["withLog"]);
  const size = config["stackTopItemsSize"] ?? 0;
  if (!Number.isSafeInteger(size)) throw fault(size, "stackTopItemsSize", "int");
  const ignored = config["ignoredOpcodes"] ?? undefined;
  if (ignored === undefined) return { withLog, ignoredOpcodes: IGNORED };
  if (!Array.isArray(ignored)) throw fault(ignored, "ignoredOpcodes", "[]hexutil.Uint64");
  return { withLog, ignoredOpcodes: new Set(ignored.map(opcodeOf)) };
}

function opcodeOf(value: unknown): number {
  if (typeof value === "string" && /^0x(?:0|[1-9a-f][0-9a-f]{0,15})$/i.test(value)) {
    return Number(value);
  }
  throw fault(value, "ignoredOpcodes", "hexutil.Uint64");
}

function fault(value: unknown, field: string, type: string): InvalidTracerError {
  return new InvalidTracerError(
    `json: cannot unmarshal ${kindOf(value)} into Go struct field erc7562TracerConfig.${field} of type ${type}`,
  );
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
