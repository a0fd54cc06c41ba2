/**
 * Every opcode on the operands that take most time for its gas. Each row is a loop that runs until its gas is used up, so the figure is what an attacker
 * gets for gas: the operands are copied from the stack, which costs 3 gas each.
 */

import type { Hardfork } from "../../src/base/params/hardforks.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { bigintToFixedBytes } from "../../src/base/primitives/bytes.ts";
import { hashFromBigint } from "../../src/base/primitives/hash.ts";
import { createEvm } from "../../src/evm/machine/engine.ts";
import { type Opcode, opcodesOf } from "../../src/evm/machine/opcodes.ts";
import type { Tracer } from "../../src/evm/machine/tracer.ts";
import { createWorldState } from "../../src/evm/state/world-state.ts";
import { testBlock, testMessage } from "../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../test/support/evm/state/memory-state.ts";
import { leastMs, onceMs } from "./cpu-time.ts";

export type OpcodeProgram = {
  readonly label: string;
  readonly code: Uint8Array;
  /** Code of `CALLEE`. */
  readonly callee: Uint8Array;
};

export type OpcodeRow = {
  readonly opcode: string;
  readonly input: string;
  readonly "ns/gas": number;
};

const CALLER = `0x${"aa".repeat(20)}` as Address;
const CONTRACT = `0x${"cc".repeat(20)}` as Address;
const CALLEE = `0x${"dd".repeat(20)}` as Address;
const CALLEE_WORD = BigInt(CALLEE);
const BALANCE = 10n ** 30n;
/** Code within EIP-170. */
const CODE_BYTES_MAX = 24_576;
const UNROLLED_MAX = 256;
const GAS = 5_000_000n;

const MAX = (1n << 256n) - 1n;
const DENSE = 0xf1e2d3c4b5a697887766554433221100f1e2d3c4b5a6978877665544332211ffn;
const SIGN = 1n << 255n;

/** Operands, the topmost first. "new" is another number at each execution: the gas that is left. */
type Operands = readonly (bigint | "new")[];
type Variant = { readonly label: string; readonly operands: Operands };

/** Words that exercise every limb, the signed cases and the slow ways through a division. */
const WORDS: readonly Operands[] = [
  [0n, 0n, 0n],
  [MAX, MAX, MAX],
  [DENSE, 0xffee01n, 3n],
  [DENSE, DENSE >> 64n, DENSE >> 128n],
  [MAX, DENSE >> 120n, DENSE >> 1n],
  [SIGN | DENSE, MAX - 6n, DENSE],
  [7n, DENSE, 5n],
  ["new", DENSE, DENSE >> 3n],
];
const SIZES = [0n, 1n, 32n, 1_024n, 32_768n];

/** Operands of opcodes whose worst ones are not plain words. */
const SPECIAL: Readonly<Record<string, readonly Operands[]>> = {
  EXP: [
    [DENSE, MAX],
    [3n, 0xffn],
    [MAX, SIGN],
  ],
  BYTE: [[31n, DENSE]],
  SIGNEXTEND: [
    [0n, DENSE],
    [30n, MAX],
  ],
  KECCAK256: SIZES.map((size) => [0n, size]),
  ...accountOperands("BALANCE", "EXTCODESIZE", "EXTCODEHASH"),
  EXTCODECOPY: [...SIZES.map((size): Operands => [CALLEE_WORD, 0n, 0n, size]), ["new", 0n, 0n, 32n]],
  ...Object.fromEntries(
    ["CALLDATACOPY", "CODECOPY", "MCOPY"].map((name) => [name, SIZES.map((size) => [0n, 1n, size])]),
  ),
  RETURNDATACOPY: [[0n, 0n, 0n]],
  CALLDATALOAD: [[0n], [MAX]],
  BLOCKHASH: [[999n], [750n], [0n], ["new"]],
  BLOBHASH: [[0n], [MAX]],
  MLOAD: [[0n], [1n], [32_736n]],
  MSTORE: [
    [0n, DENSE],
    [1n, DENSE],
  ],
  MSTORE8: [[31n, DENSE]],
  SLOAD: [[0n], ["new"]],
  SSTORE: [
    [0n, "new"],
    ["new", 1n],
    ["new", 0n],
    [0n, 0n],
  ],
  TLOAD: [[0n], ["new"]],
  TSTORE: [
    [0n, "new"],
    ["new", DENSE],
  ],
  ...Object.fromEntries(
    [0, 1, 2, 3, 4].map((topics) => [
      `LOG${topics}`,
      [0n, 32n, 1_024n].map((size) => [0n, size, ...new Array<bigint>(topics).fill(DENSE)]),
    ]),
  ),
  CREATE: [
    [0n, 0n, 0n],
    [1n, 0n, 0n],
    [0n, 0n, 32_768n],
  ],
  CREATE2: [
    [0n, 0n, 0n, "new"],
    [0n, 0n, 32_768n, "new"],
  ],
  ...callOperands(["CALL", "CALLCODE"], [0n, 1n]),
  ...callOperands(["DELEGATECALL", "STATICCALL"], [undefined]),
};

function accountOperands(...names: string[]) {
  return Object.fromEntries(names.map((name) => [name, [[CALLEE_WORD], ["new"], [4n]]]));
}

/** Calls of a contract that stops, of a new account each time, and of a precompile, with much input and little. */
function callOperands(names: readonly string[], values: readonly (bigint | undefined)[]) {
  const targets = [CALLEE_WORD, "new", 4n] as const;
  const variants = targets.flatMap((target) =>
    values.flatMap((value) =>
      [0n, 1_024n].map((size): Operands => {
        const sent = value === undefined ? [] : [value];
        return [30_000n, target, ...sent, 0n, size, 0n, 0n];
      }),
    ),
  );
  return Object.fromEntries(names.map((name) => [name, variants]));
}

/** Worst-case programs of `opcode`: loops without end, but for those that cannot be in one. */
export function programsOf(opcode: Opcode): OpcodeProgram[] {
  return variantsOf(opcode).map(({ label, operands }) =>
    opcode.kind === "halt"
      ? { label: `${label}, called`, code: callingLoop(), callee: once(opcode, operands) }
      : { label, code: loopOf(opcode, operands), callee: Uint8Array.of(0) },
  );
}

function variantsOf({ name, pops }: Opcode): Variant[] {
  const operands = SPECIAL[name] ?? (pops === 0 ? [[]] : pops <= 3 ? WORDS : [[DENSE]]);
  return operands.map((list) => ({
    operands: Array.from({ length: pops }, (_, i) => list[i] ?? DENSE),
    label: list.slice(0, pops).map(labelOf).join(" "),
  }));
}

function labelOf(operand: bigint | "new"): string {
  if (operand === CALLEE_WORD) return "contract";
  return typeof operand === "bigint" && operand > 0xffff_ffffn ? "word" : String(operand);
}

/** `JUMPDEST`, the opcode with its operands many times, and back. Pushed words lie below, from where `DUP` copies them. */
function loopOf(opcode: Opcode, operands: Operands): Uint8Array {
  const words = [...new Set(operands.filter((each) => each !== "new"))];
  const prologue = words.flatMap(push);
  const start = prologue.length;
  const turn = turnOf(opcode, operands, words, start);
  const count = Math.min(UNROLLED_MAX, Math.floor((CODE_BYTES_MAX - start - 8) / turn.length));
  const body = new Array<number[]>(opcode.kind === "jump" ? 1 : count).fill(turn).flat();
  return Uint8Array.from([...prologue, 0x5b, ...body, ...push(BigInt(start)), 0x56]);
}

function turnOf(opcode: Opcode, operands: Operands, words: readonly bigint[], start: number) {
  if (opcode.name === "JUMP") return [...push(BigInt(start)), opcode.code];
  if (opcode.name === "JUMPI") return [...push(1n), ...push(BigInt(start)), opcode.code];
  // The operand pushed first is the lowest.
  const copies = [...operands].reverse().flatMap((operand, pushed) => {
    if (operand === "new") return [0x5a];
    const depth = pushed + words.length - 1 - words.indexOf(operand);
    return depth < 16 ? [0x80 + depth] : push(operand);
  });
  const immediate = opcode.name.startsWith("PUSH") ? new Array<number>(opcode.code - 0x5f).fill(0xf7) : [];
  const left = new Array<number>(opcode.pushes).fill(0x50);
  return [...copies, opcode.code, ...immediate, ...left];
}

/** Calls `CALLEE` without end. */
function callingLoop(): Uint8Array {
  const call = [...new Array<number>(5).fill(0x5f), ...push(CALLEE_WORD), 0x5a, 0xf1, 0x50];
  return Uint8Array.from([0x5b, ...new Array<number[]>(64).fill(call).flat(), 0x5f, 0x56]);
}

function once(opcode: Opcode, operands: Operands): Uint8Array {
  const pushed = [...operands].reverse().flatMap((each) => (each === "new" ? [0x5a] : push(each)));
  return Uint8Array.from([...pushed, opcode.code]);
}

function push(value: bigint): number[] {
  if (value === 0n) return [0x5f];
  const digits = value.toString(16);
  const bytes = Math.ceil(digits.length / 2);
  return [0x5f + bytes, ...bigintToFixedBytes(value, bytes)];
}

const evm = createEvm();

/** Runs `program` until its gas is used up. @returns gas left, 0 */
export function runProgram({ code, callee }: OpcodeProgram, hardfork: Hardfork, gas: bigint, tracer?: Tracer) {
  const state = createWorldState(createMemoryState());
  for (const [address, its] of [
    [CONTRACT, code],
    [CALLEE, callee],
  ] as const) {
    state.setAccount(address, { nonce: 1n, balance: BALANCE, codeHash: state.putCode(its) });
  }
  const block = testBlock({
    hardfork,
    number: 1_000,
    gasLimit: gas,
    blockHash: (number) => hashFromBigint(BigInt(number)),
  });
  const data = new Uint8Array(32_768).fill(0xd3);
  const message = testMessage({ to: CONTRACT, caller: CALLER, origin: CALLER, data, gas });
  return evm.execute(message, block, state, tracer && { tracer });
}

/** The worst row of each opcode of `hardfork`, slowest for its gas first. */
export function opcodeRows(hardfork: Hardfork): OpcodeRow[] {
  const rows = opcodesOf(hardfork).flatMap((opcode) => {
    if (opcode === undefined) return [];
    const run = (program: OpcodeProgram) => runProgram(program, hardfork, GAS);
    // One run each finds the worst, many of that one its time.
    const tried = programsOf(opcode).map((program) => ({
      program,
      ms: onceMs(() => run(program)),
    }));
    const { program } = tried.reduce((worst, each) => (each.ms > worst.ms ? each : worst));
    const nsPerGas = Number(((leastMs(() => run(program)) * 1e6) / Number(GAS)).toFixed(2));
    return [{ opcode: opcode.name, input: program.label, "ns/gas": nsPerGas }];
  });
  return rows.sort((a, b) => b["ns/gas"] - a["ns/gas"]);
}
