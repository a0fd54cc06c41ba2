import { type Hardfork, isAtLeast } from "../params/hardforks.ts";

/**
 * How an opcode bounds a gas segment, whose static gas is charged before its first opcode:
 * - "flow": it goes on
 * - "break": the segment ends behind it, because it reads the gas counter, or because what it does outlives a halt
 *   (state, logs, journal of warm accesses), or because its failure must not be mistaken for a later one
 * - "jump", "halt": control leaves
 */
export type OpcodeKind = "flow" | "break" | "jump" | "halt";

/** One opcode under the rules of one fork (Yellow Paper, appendix H). */
export type Opcode = {
  readonly code: number;
  readonly name: string;
  readonly pops: number;
  readonly pushes: number;
  /** The part of its gas that depends on nothing. */
  readonly gas: number;
  readonly kind: OpcodeKind;
  /** It costs more than `gas`, which its emitter charges. */
  readonly isDynamic: boolean;
};

/** [code, name, pops, pushes, static gas by fork, first fork, kind, "dynamic"] */
type Row = readonly [
  code: number,
  name: string,
  pops: number,
  pushes: number,
  gas: number | Readonly<Partial<Record<Hardfork, number>>>,
  since?: Hardfork,
  kind?: OpcodeKind,
  isDynamic?: "dynamic",
];

/** EIP-150, EIP-1884; from Berlin the whole price is that of the access (EIP-2929). */
const BALANCE_GAS = { frontier: 20, tangerineWhistle: 400, istanbul: 700, berlin: 0 };
const EXTCODE_GAS = { frontier: 20, tangerineWhistle: 700, berlin: 0 };
const SLOAD_GAS = { frontier: 50, tangerineWhistle: 200, istanbul: 800, berlin: 0 };
const CALL_GAS = { frontier: 40, tangerineWhistle: 700, berlin: 0 };

const ROWS: readonly Row[] = [
  [0x00, "STOP", 0, 0, 0, "frontier", "halt"],
  [0x01, "ADD", 2, 1, 3],
  [0x02, "MUL", 2, 1, 5],
  [0x03, "SUB", 2, 1, 3],
  [0x04, "DIV", 2, 1, 5],
  [0x05, "SDIV", 2, 1, 5],
  [0x06, "MOD", 2, 1, 5],
  [0x07, "SMOD", 2, 1, 5],
  [0x08, "ADDMOD", 3, 1, 8],
  [0x09, "MULMOD", 3, 1, 8],
  [0x0a, "EXP", 2, 1, 10, "frontier", "flow", "dynamic"],
  [0x0b, "SIGNEXTEND", 2, 1, 5],
  [0x10, "LT", 2, 1, 3],
  [0x11, "GT", 2, 1, 3],
  [0x12, "SLT", 2, 1, 3],
  [0x13, "SGT", 2, 1, 3],
  [0x14, "EQ", 2, 1, 3],
  [0x15, "ISZERO", 1, 1, 3],
  [0x16, "AND", 2, 1, 3],
  [0x17, "OR", 2, 1, 3],
  [0x18, "XOR", 2, 1, 3],
  [0x19, "NOT", 1, 1, 3],
  [0x1a, "BYTE", 2, 1, 3],
  [0x1b, "SHL", 2, 1, 3, "constantinople"],
  [0x1c, "SHR", 2, 1, 3, "constantinople"],
  [0x1d, "SAR", 2, 1, 3, "constantinople"],
  [0x1e, "CLZ", 1, 1, 5, "osaka"],
  [0x20, "KECCAK256", 2, 1, 30, "frontier", "flow", "dynamic"],
  [0x30, "ADDRESS", 0, 1, 2],
  [0x31, "BALANCE", 1, 1, BALANCE_GAS, "frontier", "break", "dynamic"],
  [0x32, "ORIGIN", 0, 1, 2],
  [0x33, "CALLER", 0, 1, 2],
  [0x34, "CALLVALUE", 0, 1, 2],
  [0x35, "CALLDATALOAD", 1, 1, 3],
  [0x36, "CALLDATASIZE", 0, 1, 2],
  [0x37, "CALLDATACOPY", 3, 0, 3, "frontier", "flow", "dynamic"],
  [0x38, "CODESIZE", 0, 1, 2],
  [0x39, "CODECOPY", 3, 0, 3, "frontier", "flow", "dynamic"],
  [0x3a, "GASPRICE", 0, 1, 2],
  [0x3b, "EXTCODESIZE", 1, 1, EXTCODE_GAS, "frontier", "break", "dynamic"],
  [0x3c, "EXTCODECOPY", 4, 0, EXTCODE_GAS, "frontier", "break", "dynamic"],
  [0x3d, "RETURNDATASIZE", 0, 1, 2, "byzantium"],
  [0x3e, "RETURNDATACOPY", 3, 0, 3, "byzantium", "break", "dynamic"],
  [
    0x3f,
    "EXTCODEHASH",
    1,
    1,
    { constantinople: 400, istanbul: 700, berlin: 0 },
    "constantinople",
    "break",
    "dynamic",
  ],
  [0x40, "BLOCKHASH", 1, 1, 20],
  [0x41, "COINBASE", 0, 1, 2],
  [0x42, "TIMESTAMP", 0, 1, 2],
  [0x43, "NUMBER", 0, 1, 2],
  [0x44, "DIFFICULTY", 0, 1, 2],
  [0x45, "GASLIMIT", 0, 1, 2],
  [0x46, "CHAINID", 0, 1, 2, "istanbul"],
  [0x47, "SELFBALANCE", 0, 1, 5, "istanbul"],
  [0x48, "BASEFEE", 0, 1, 2, "london"],
  [0x49, "BLOBHASH", 1, 1, 3, "cancun"],
  [0x4a, "BLOBBASEFEE", 0, 1, 2, "cancun"],
  [0x50, "POP", 1, 0, 2],
  [0x51, "MLOAD", 1, 1, 3, "frontier", "flow", "dynamic"],
  [0x52, "MSTORE", 2, 0, 3, "frontier", "flow", "dynamic"],
  [0x53, "MSTORE8", 2, 0, 3, "frontier", "flow", "dynamic"],
  [0x54, "SLOAD", 1, 1, SLOAD_GAS, "frontier", "break", "dynamic"],
  [0x55, "SSTORE", 2, 0, 0, "frontier", "break", "dynamic"],
  [0x56, "JUMP", 1, 0, 8, "frontier", "jump"],
  [0x57, "JUMPI", 2, 0, 10, "frontier", "jump"],
  [0x58, "PC", 0, 1, 2],
  [0x59, "MSIZE", 0, 1, 2],
  [0x5a, "GAS", 0, 1, 2, "frontier", "break"],
  [0x5b, "JUMPDEST", 0, 0, 1],
  [0x5c, "TLOAD", 1, 1, 100, "cancun", "break"],
  [0x5d, "TSTORE", 2, 0, 100, "cancun", "break"],
  [0x5e, "MCOPY", 3, 0, 3, "cancun", "flow", "dynamic"],
  [0x5f, "PUSH0", 0, 1, 2, "shanghai"],
  ...numbered(32, (n): Row => [0x5f + n, `PUSH${n}`, 0, 1, 3]),
  ...numbered(16, (n): Row => [0x7f + n, `DUP${n}`, n, n + 1, 3]),
  ...numbered(16, (n): Row => [0x8f + n, `SWAP${n}`, n + 1, n + 1, 3]),
  ...numbered(
    5,
    (n): Row => [
      0x9f + n,
      `LOG${n - 1}`,
      n + 1,
      0,
      375 + 375 * (n - 1),
      "frontier",
      "break",
      "dynamic",
    ],
  ),
  [0xf0, "CREATE", 3, 1, 32000, "frontier", "break", "dynamic"],
  [0xf1, "CALL", 7, 1, CALL_GAS, "frontier", "break", "dynamic"],
  [0xf2, "CALLCODE", 7, 1, CALL_GAS, "frontier", "break", "dynamic"],
  [0xf3, "RETURN", 2, 0, 0, "frontier", "halt", "dynamic"],
  [0xf4, "DELEGATECALL", 6, 1, CALL_GAS, "homestead", "break", "dynamic"],
  [0xf5, "CREATE2", 4, 1, 32000, "constantinople", "break", "dynamic"],
  [0xfa, "STATICCALL", 6, 1, CALL_GAS, "byzantium", "break", "dynamic"],
  [0xfd, "REVERT", 2, 0, 0, "byzantium", "halt", "dynamic"],
  [
    0xff,
    "SELFDESTRUCT",
    1,
    0,
    { frontier: 0, tangerineWhistle: 5000 },
    "frontier",
    "halt",
    "dynamic",
  ],
];

/** The opcodes of `hardfork` at their numbers; undefined where it has none. */
export function opcodesOf(hardfork: Hardfork): readonly (Opcode | undefined)[] {
  const table = new Array<Opcode | undefined>(256).fill(undefined);
  for (const [code, name, pops, pushes, gas, since, kind, dynamic] of ROWS) {
    if (!isAtLeast(hardfork, since ?? "frontier")) continue;
    table[code] = {
      code,
      name,
      pops,
      pushes,
      gas: gasAt(gas, hardfork),
      kind: kind ?? "flow",
      isDynamic: dynamic !== undefined,
    };
  }
  return table;
}

const NAMES: ReadonlyMap<number, string> = new Map([
  ...ROWS.map(([code, name]) => [code, name] as const),
  [0xfe, "INVALID"] as const,
]);

/** geth's name of an opcode, whatever the fork; numbers nobody uses are named for what they are. */
export function opcodeName(code: number): string {
  return NAMES.get(code) ?? `opcode 0x${code.toString(16)} not defined`;
}

/** The newest price that `hardfork` has reached; prices are listed oldest first. */
function gasAt(gas: Row[4], hardfork: Hardfork): number {
  if (typeof gas === "number") return gas;
  let price = 0;
  for (const [since, amount] of Object.entries(gas)) {
    if (isAtLeast(hardfork, since as Hardfork)) price = amount;
  }
  return price;
}

function numbered(count: number, row: (n: number) => Row): Row[] {
  return Array.from({ length: count }, (_, i) => row(i + 1));
}
