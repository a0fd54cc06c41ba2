import { type Hardfork, RULES_AT } from "../../base/params/hardforks.ts";

/**
 * How an opcode bounds a gas segment, whose static gas is charged before its first opcode:
 * - "flow": it goes on
 * - "break": the segment ends after it, because it reads the gas counter, or because what it does outlives a halt
 *   (state, logs, journal of warm accesses), or because its failure must not be mistaken for a later one
 * - "jump", "halt": control leaves the segment
 */
type OpcodeKind = "flow" | "break" | "jump" | "halt";

/** One opcode under the rules of one fork (Yellow Paper, appendix H). */
export type Opcode = {
  readonly code: number;
  readonly name: string;
  readonly pops: number;
  readonly pushes: number;
  /** Static gas: the part that is the same for all operands. */
  readonly gas: number;
  readonly kind: OpcodeKind;
  /** Has dynamic gas as well, which its emitter charges. */
  readonly isDynamic: boolean;
  /** Bytes of code after it that belong to it */
  readonly immediate: number;
  /** EIP-8024: the opcode by the byte after it, which says how deep in the stack its operands are; see `opcodeAt` */
  readonly variants?: readonly Opcode[];
  /** Of a variant: which operands, counted from 0, it copies or exchanges */
  readonly operands?: readonly [number, number];
};

/** Opcodes that begin a frame; a frame remembers its own. */
export const CREATE = 0xf0;
export const CALL = 0xf1;
export const CALLCODE = 0xf2;
export const DELEGATECALL = 0xf4;
export const CREATE2 = 0xf5;
export const STATICCALL = 0xfa;

/** An opcode as the table lists it. */
type Row = Pick<Opcode, "code" | "name" | "pops" | "pushes" | "variants"> & {
  /** Static gas, the same in all forks or by the fork that changed it, oldest first. */
  readonly gas: number | Readonly<Partial<Record<Hardfork, number>>>;
  /** First fork that has it; Frontier unless given. */
  readonly since?: Hardfork;
  /** "flow" unless given. */
  readonly kind?: OpcodeKind;
  /** False unless given. */
  readonly isDynamic?: boolean;
};

/** EIP-150, EIP-1884; from Berlin all of the gas is that of the access (EIP-2929). */
const BALANCE_GAS = { frontier: 20, tangerineWhistle: 400, istanbul: 700, berlin: 0 };
/** Size and code are a second read: EIP-8038 */
const EXTCODE_GAS = { frontier: 20, tangerineWhistle: 700, berlin: 0, amsterdam: 100 };
const SLOAD_GAS = { frontier: 50, tangerineWhistle: 200, istanbul: 800, berlin: 0 };
const CALL_GAS = { frontier: 40, tangerineWhistle: 700, berlin: 0 };
/** EIP-8038; the new account is paid with state gas (EIP-8037) */
const CREATE_GAS = { frontier: 32_000, amsterdam: 12_000 };

// biome-ignore format: a table
const ROWS: readonly Row[] = [
  { code: 0x00, name: "STOP", gas: 0, pops: 0, pushes: 0, kind: "halt" },
  { code: 0x01, name: "ADD", gas: 3, pops: 2, pushes: 1 },
  { code: 0x02, name: "MUL", gas: 5, pops: 2, pushes: 1 },
  { code: 0x03, name: "SUB", gas: 3, pops: 2, pushes: 1 },
  { code: 0x04, name: "DIV", gas: 5, pops: 2, pushes: 1 },
  { code: 0x05, name: "SDIV", gas: 5, pops: 2, pushes: 1 },
  { code: 0x06, name: "MOD", gas: 5, pops: 2, pushes: 1 },
  { code: 0x07, name: "SMOD", gas: 5, pops: 2, pushes: 1 },
  { code: 0x08, name: "ADDMOD", gas: 8, pops: 3, pushes: 1 },
  { code: 0x09, name: "MULMOD", gas: 8, pops: 3, pushes: 1 },
  { code: 0x0a, name: "EXP", gas: 10, pops: 2, pushes: 1, isDynamic: true },
  { code: 0x0b, name: "SIGNEXTEND", gas: 5, pops: 2, pushes: 1 },
  { code: 0x10, name: "LT", gas: 3, pops: 2, pushes: 1 },
  { code: 0x11, name: "GT", gas: 3, pops: 2, pushes: 1 },
  { code: 0x12, name: "SLT", gas: 3, pops: 2, pushes: 1 },
  { code: 0x13, name: "SGT", gas: 3, pops: 2, pushes: 1 },
  { code: 0x14, name: "EQ", gas: 3, pops: 2, pushes: 1 },
  { code: 0x15, name: "ISZERO", gas: 3, pops: 1, pushes: 1 },
  { code: 0x16, name: "AND", gas: 3, pops: 2, pushes: 1 },
  { code: 0x17, name: "OR", gas: 3, pops: 2, pushes: 1 },
  { code: 0x18, name: "XOR", gas: 3, pops: 2, pushes: 1 },
  { code: 0x19, name: "NOT", gas: 3, pops: 1, pushes: 1 },
  { code: 0x1a, name: "BYTE", gas: 3, pops: 2, pushes: 1 },
  { code: 0x1b, name: "SHL", gas: 3, pops: 2, pushes: 1, since: "constantinople" },
  { code: 0x1c, name: "SHR", gas: 3, pops: 2, pushes: 1, since: "constantinople" },
  { code: 0x1d, name: "SAR", gas: 3, pops: 2, pushes: 1, since: "constantinople" },
  { code: 0x1e, name: "CLZ", gas: 5, pops: 1, pushes: 1, since: "osaka" },
  { code: 0x20, name: "KECCAK256", gas: 30, pops: 2, pushes: 1, isDynamic: true },
  { code: 0x30, name: "ADDRESS", gas: 2, pops: 0, pushes: 1 },
  { code: 0x31, name: "BALANCE", gas: BALANCE_GAS, pops: 1, pushes: 1, kind: "break", isDynamic: true },
  { code: 0x32, name: "ORIGIN", gas: 2, pops: 0, pushes: 1 },
  { code: 0x33, name: "CALLER", gas: 2, pops: 0, pushes: 1 },
  { code: 0x34, name: "CALLVALUE", gas: 2, pops: 0, pushes: 1 },
  { code: 0x35, name: "CALLDATALOAD", gas: 3, pops: 1, pushes: 1 },
  { code: 0x36, name: "CALLDATASIZE", gas: 2, pops: 0, pushes: 1 },
  { code: 0x37, name: "CALLDATACOPY", gas: 3, pops: 3, pushes: 0, isDynamic: true },
  { code: 0x38, name: "CODESIZE", gas: 2, pops: 0, pushes: 1 },
  { code: 0x39, name: "CODECOPY", gas: 3, pops: 3, pushes: 0, isDynamic: true },
  { code: 0x3a, name: "GASPRICE", gas: 2, pops: 0, pushes: 1 },
  { code: 0x3b, name: "EXTCODESIZE", gas: EXTCODE_GAS, pops: 1, pushes: 1, kind: "break", isDynamic: true },
  { code: 0x3c, name: "EXTCODECOPY", gas: EXTCODE_GAS, pops: 4, pushes: 0, kind: "break", isDynamic: true },
  { code: 0x3d, name: "RETURNDATASIZE", gas: 2, pops: 0, pushes: 1, since: "byzantium" },
  { code: 0x3e, name: "RETURNDATACOPY", gas: 3, pops: 3, pushes: 0, since: "byzantium", kind: "break", isDynamic: true },
  { code: 0x3f, name: "EXTCODEHASH", gas: { constantinople: 400, istanbul: 700, berlin: 0 }, pops: 1, pushes: 1, since: "constantinople", kind: "break", isDynamic: true },
  { code: 0x40, name: "BLOCKHASH", gas: 20, pops: 1, pushes: 1 },
  { code: 0x41, name: "COINBASE", gas: 2, pops: 0, pushes: 1 },
  { code: 0x42, name: "TIMESTAMP", gas: 2, pops: 0, pushes: 1 },
  { code: 0x43, name: "NUMBER", gas: 2, pops: 0, pushes: 1 },
  { code: 0x44, name: "DIFFICULTY", gas: 2, pops: 0, pushes: 1 },
  { code: 0x45, name: "GASLIMIT", gas: 2, pops: 0, pushes: 1 },
  { code: 0x46, name: "CHAINID", gas: 2, pops: 0, pushes: 1, since: "istanbul" },
  { code: 0x47, name: "SELFBALANCE", gas: 5, pops: 0, pushes: 1, since: "istanbul" },
  { code: 0x48, name: "BASEFEE", gas: 2, pops: 0, pushes: 1, since: "london" },
  { code: 0x49, name: "BLOBHASH", gas: 3, pops: 1, pushes: 1, since: "cancun" },
  { code: 0x4a, name: "BLOBBASEFEE", gas: 2, pops: 0, pushes: 1, since: "cancun" },
  { code: 0x4b, name: "SLOTNUM", gas: 2, pops: 0, pushes: 1, since: "amsterdam" },
  { code: 0x50, name: "POP", gas: 2, pops: 1, pushes: 0 },
  { code: 0x51, name: "MLOAD", gas: 3, pops: 1, pushes: 1, isDynamic: true },
  { code: 0x52, name: "MSTORE", gas: 3, pops: 2, pushes: 0, isDynamic: true },
  { code: 0x53, name: "MSTORE8", gas: 3, pops: 2, pushes: 0, isDynamic: true },
  { code: 0x54, name: "SLOAD", gas: SLOAD_GAS, pops: 1, pushes: 1, kind: "break", isDynamic: true },
  { code: 0x55, name: "SSTORE", gas: 0, pops: 2, pushes: 0, kind: "break", isDynamic: true },
  { code: 0x56, name: "JUMP", gas: 8, pops: 1, pushes: 0, kind: "jump" },
  { code: 0x57, name: "JUMPI", gas: 10, pops: 2, pushes: 0, kind: "jump" },
  { code: 0x58, name: "PC", gas: 2, pops: 0, pushes: 1 },
  { code: 0x59, name: "MSIZE", gas: 2, pops: 0, pushes: 1 },
  { code: 0x5a, name: "GAS", gas: 2, pops: 0, pushes: 1, kind: "break" },
  { code: 0x5b, name: "JUMPDEST", gas: 1, pops: 0, pushes: 0 },
  { code: 0x5c, name: "TLOAD", gas: 100, pops: 1, pushes: 1, since: "cancun", kind: "break" },
  { code: 0x5d, name: "TSTORE", gas: 100, pops: 2, pushes: 0, since: "cancun", kind: "break" },
  { code: 0x5e, name: "MCOPY", gas: 3, pops: 3, pushes: 0, since: "cancun", isDynamic: true },
  { code: 0x5f, name: "PUSH0", gas: 2, pops: 0, pushes: 1, since: "shanghai" },
  ...numbered(32, (n) => ({ code: 0x5f + n, name: `PUSH${n}`, gas: 3, pops: 0, pushes: 1 })),
  ...numbered(16, (n) => ({ code: 0x7f + n, name: `DUP${n}`, gas: 3, pops: n, pushes: n + 1 })),
  ...numbered(16, (n) => ({ code: 0x8f + n, name: `SWAP${n}`, gas: 3, pops: n + 1, pushes: n + 1 })),
  ...numbered(5, (n) => ({ code: 0x9f + n, name: `LOG${n - 1}`, gas: 375 + 375 * (n - 1), pops: n + 1, pushes: 0, kind: "break", isDynamic: true })),
  { code: 0xe6, name: "DUPN", gas: 3, pops: 1, pushes: 2, since: "amsterdam" },
  { code: 0xe7, name: "SWAPN", gas: 3, pops: 2, pushes: 2, since: "amsterdam" },
  { code: 0xe8, name: "EXCHANGE", gas: 3, pops: 2, pushes: 2, since: "amsterdam" },
  { code: 0xf0, name: "CREATE", gas: CREATE_GAS, pops: 3, pushes: 1, kind: "break", isDynamic: true },
  { code: 0xf1, name: "CALL", gas: CALL_GAS, pops: 7, pushes: 1, kind: "break", isDynamic: true },
  { code: 0xf2, name: "CALLCODE", gas: CALL_GAS, pops: 7, pushes: 1, kind: "break", isDynamic: true },
  { code: 0xf3, name: "RETURN", gas: 0, pops: 2, pushes: 0, kind: "halt", isDynamic: true },
  { code: 0xf4, name: "DELEGATECALL", gas: CALL_GAS, pops: 6, pushes: 1, since: "homestead", kind: "break", isDynamic: true },
  { code: 0xf5, name: "CREATE2", gas: CREATE_GAS, pops: 4, pushes: 1, since: "constantinople", kind: "break", isDynamic: true },
  { code: 0xfa, name: "STATICCALL", gas: CALL_GAS, pops: 6, pushes: 1, since: "byzantium", kind: "break", isDynamic: true },
  { code: 0xfd, name: "REVERT", gas: 0, pops: 2, pushes: 0, since: "byzantium", kind: "halt", isDynamic: true },
  { code: 0xff, name: "SELFDESTRUCT", gas: { frontier: 0, tangerineWhistle: 5000 }, pops: 1, pushes: 0, kind: "halt", isDynamic: true },
];

/** The opcodes of `hardfork` by number; undefined for unassigned numbers. */
export function opcodesOf(hardfork: Hardfork): readonly (Opcode | undefined)[] {
  const table = new Array<Opcode | undefined>(256).fill(undefined);
  for (const { since = "frontier", gas, ...row } of ROWS) {
    if (!RULES_AT[hardfork][since]) continue;
    const opcode = {
      kind: "flow",
      isDynamic: false,
      immediate: pushedBytes(row.code),
      ...row,
      gas: gasAt(gas, hardfork),
    } as const;
    table[row.code] = isDeep(row.code) ? { ...opcode, variants: variantsOf(opcode) } : opcode;
  }
  return table;
}

function pushedBytes(code: number): number {
  return code > 0x5f && code <= 0x7f ? code - 0x5f : 0;
}

export const DUPN = 0xe6;

const EXCHANGE = 0xe8;

/** True for DUPN, SWAPN and EXCHANGE (EIP-8024). */
export function isDeep(code: number): boolean {
  return code >= DUPN && code <= EXCHANGE;
}

/** The first byte after EXCHANGE, and after DUPN and SWAPN, that names no operands, up to 127: among them are JUMPDEST and PUSH (EIP-8024). */
export const NO_PAIR_MIN = 82;
export const NO_DEPTH_MIN = 91;
export const NO_OPERAND_MAX = 127;

/** EIP-8024, `decode_single` and `decode_pair`: by the byte after the opcode. */
function variantsOf(opcode: Opcode): Opcode[] {
  const invalidMin = opcode.code === EXCHANGE ? NO_PAIR_MIN : NO_DEPTH_MIN;
  return Array.from({ length: 256 }, (_, byte) => {
    if (byte >= invalidMin && byte <= NO_OPERAND_MAX) return { ...opcode, kind: "halt" };
    const operands = opcode.code === EXCHANGE ? pairOf(byte) : ([0, depthOf(byte)] as const);
    const [, deepest] = operands;
    const words = opcode.code === DUPN ? deepest : deepest + 1;
    return { ...opcode, immediate: 1, operands, pops: words, pushes: opcode.code === DUPN ? words + 1 : words };
  });
}

function depthOf(byte: number): number {
  return (byte + 145) % 256;
}

function pairOf(byte: number): readonly [number, number] {
  const cell = byte ^ 143;
  const [row, column] = [cell >> 4, cell & 15];
  return row < column ? [row + 1, column + 1] : [column + 1, 29 - row];
}

/** The opcode at `offset` of `code`, with its immediate byte if it has one; undefined if the fork does not define it. */
export function opcodeAt(
  opcodes: readonly (Opcode | undefined)[],
  code: Uint8Array,
  offset: number,
): Opcode | undefined {
  const opcode = opcodes[code[offset]!];
  return opcode?.variants === undefined ? opcode : opcode.variants[code[offset + 1] ?? 0];
}

/** Opcodes of the EVM object format (EIP-7692), which no fork has: geth names them where it shows an undefined opcode. */
const RESERVED_NAMES: readonly (readonly [code: number, name: string])[] = [
  [0xd0, "DATALOAD"],
  [0xd1, "DATALOADN"],
  [0xd2, "DATASIZE"],
  [0xd3, "DATACOPY"],
  [0xe0, "RJUMP"],
  [0xe1, "RJUMPI"],
  [0xe2, "RJUMPV"],
  [0xe3, "CALLF"],
  [0xe4, "RETF"],
  [0xe5, "JUMPF"],
  [0xec, "EOFCREATE"],
  [0xee, "RETURNCONTRACT"],
  [0xf7, "RETURNDATALOAD"],
  [0xf8, "EXTCALL"],
  [0xf9, "EXTDELEGATECALL"],
  [0xfb, "EXTSTATICCALL"],
];

const NAMES: ReadonlyMap<number, string> = new Map([
  ...ROWS.map(({ code, name }) => [code, name] as const),
  [0xfe, "INVALID"] as const,
  ...RESERVED_NAMES,
]);

/** geth's name of an opcode, whatever the fork; unassigned numbers are named by their value. */
export function opcodeName(code: number): string {
  return NAMES.get(code) ?? `opcode 0x${code.toString(16)} not defined`;
}

/** The gas of the newest fork listed that `hardfork` includes. */
function gasAt(gas: Row["gas"], hardfork: Hardfork): number {
  if (typeof gas === "number") return gas;
  let current = 0;
  for (const [since, amount] of Object.entries(gas)) {
    if (RULES_AT[hardfork][since as Hardfork]) current = amount;
  }
  return current;
}

function numbered(count: number, row: (n: number) => Row): Row[] {
  return Array.from({ length: count }, (_, i) => row(i + 1));
}

/** SLOAD, SSTORE, BALANCE, EXTCODE*, SELFDESTRUCT and the CALL family: the opcodes that name an account or a slot. */
export const ACCESS_OPCODES: ReadonlySet<number> = new Set([
  0x31, 0x3b, 0x3c, 0x3f, 0x54, 0x55, 0xf1, 0xf2, 0xf4, 0xfa, 0xff,
]);
