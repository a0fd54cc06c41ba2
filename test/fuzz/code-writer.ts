import { type Hardfork, RULES_AT } from "../../src/base/params/hardforks.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import type { CodeItem } from "./case.ts";
import type { Random } from "./random.ts";

/** [opcode, words popped]: opcodes that push one word and have no side effects. */
const PURE: readonly (readonly [opcode: number, pops: number])[] = [
  ...range(0x01, 0x07, 2),
  ...range(0x08, 0x09, 3),
  ...range(0x0a, 0x0b, 2),
  ...range(0x10, 0x14, 2),
  [0x15, 1],
  ...range(0x16, 0x18, 2),
  [0x19, 1],
  ...range(0x1a, 0x1d, 2),
  [0x1e, 1],
];
/** Nothing taken, one word left: environment, PC, MSIZE, GAS. */
const SOURCES = [
  0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x4a, 0x58, 0x59,
  0x5a, 0x5f,
];
const ADDRESS_QUERIES = [0x31, 0x3b, 0x3f];
const CALLS = [0xf1, 0xf1, 0xf1, 0xf2, 0xf4, 0xfa, 0xfa];
const OP = {
  keccak256: 0x20,
  callDataLoad: 0x35,
  callDataCopy: 0x37,
  codeCopy: 0x39,
  extCodeCopy: 0x3c,
  returnDataCopy: 0x3e,
  blockHash: 0x40,
  blobHash: 0x49,
  pop: 0x50,
  mload: 0x51,
  mstore: 0x52,
  mstore8: 0x53,
  sload: 0x54,
  sstore: 0x55,
  jump: 0x56,
  jumpi: 0x57,
  gas: 0x5a,
  tload: 0x5c,
  tstore: 0x5d,
  mcopy: 0x5e,
  log0: 0xa0,
  create: 0xf0,
  return: 0xf3,
  delegateCall: 0xf4,
  create2: 0xf5,
  staticCall: 0xfa,
  revert: 0xfd,
  selfDestruct: 0xff,
} as const;

/** First fork of the opcodes above that Frontier had not. */
const SINCE: Readonly<Record<number, Hardfork>> = {
  [0x1b]: "constantinople",
  [0x1c]: "constantinople",
  [0x1d]: "constantinople",
  [0x1e]: "osaka",
  [0x3d]: "byzantium",
  [OP.returnDataCopy]: "byzantium",
  [0x3f]: "constantinople",
  [0x46]: "istanbul",
  [0x47]: "istanbul",
  [0x48]: "london",
  [OP.blobHash]: "cancun",
  [0x4a]: "cancun",
  [OP.tload]: "cancun",
  [OP.tstore]: "cancun",
  [OP.mcopy]: "cancun",
  [0x5f]: "shanghai",
  [OP.delegateCall]: "homestead",
  [OP.create2]: "constantinople",
  [OP.staticCall]: "byzantium",
  [OP.revert]: "byzantium",
};

/** Init codes whose endings differ: no code, one zero byte, 0xef, a long code, revert with data, invalid, self-destruct. */
const INIT_CODES = [
  "00",
  "600160006000f060016000f3",
  "60016000f3",
  "60ef60005360016000f3",
  "6120006000f3",
  "6160016000f3",
  "602060006000fd60206000fd",
  "fe",
  "33ff",
  "30ff",
  "6001600055600060005560016000f3",
  "5a60005260206000f3",
  "7f602a60005260206000f30000000000000000000000000000000000000000000060005260206000f3",
];

export type CodeWriter = {
  readonly items: CodeItem[];
  /** Writes about `length` snippets and an end. */
  program(length: number): void;
};

/** Writes code that usually finds its operands on the stack, and sometimes does not. */
export function createCodeWriter(options: {
  readonly random: Random;
  readonly targets: readonly Address[];
  readonly hardfork: Hardfork;
}): CodeWriter {
  const { random, targets, hardfork } = options;
  const exists = (opcode: number) => RULES_AT[hardfork][SINCE[opcode] ?? "frontier"];
  const pickOpcode = (opcodes: readonly number[]) => random.pick(opcodes.filter(exists));
  const pureOpcodes = PURE.filter(([opcode]) => exists(opcode));
  /** Rarely true, so that most programs get to their end. */
  const goesWild = () => random.chance(0.006);
  const items: CodeItem[] = [];
  /** Words known to be on the stack; jumps make it a guess. */
  let depth = 0;
  let labels = 0;

  const op = (opcode: number) => void items.push(byte(opcode));
  const pushBytes = (digits: string) => {
    items.push(byte(0x5f + digits.length / 2) + digits);
    depth++;
  };
  const push = (value: bigint) => {
    const digits = value.toString(16);
    const even = digits.length % 2 === 1 ? `0${digits}` : digits;
    // Not always the shortest form, and never PUSH0: old forks have none.
    pushBytes(random.chance(0.05) ? even.padStart(64, "0") : even);
  };
  const pushAddress = () => pushBytes(random.chance(0.05) ? hex(random.bytes(20)) : random.pick(targets).slice(2));
  const pushAny = () => push(value(random));
  const need = (count: number) => {
    if (goesWild()) return;
    while (depth < count) pushAny();
  };
  const took = (pops: number, pushes: number) => {
    depth = Math.max(0, depth - pops) + pushes;
  };
  /** Offset and length, mostly within a few words. */
  const pushRange = () => {
    push(goesWild() ? value(random) : BigInt(random.int(130)));
    push(goesWild() ? value(random) : BigInt(random.int(random.chance(0.1) ? 3000 : 70)));
    // The offset is on top where the two are taken.
    op(0x90);
  };
  const slot = () => push(random.chance(0.9) ? BigInt(random.int(4)) : value(random));

  const pure = () => {
    const [opcode, pops] = random.pick(pureOpcodes);
    need(pops);
    op(opcode);
    took(pops, 1);
  };
  const source = () => {
    op(pickOpcode(SOURCES));
    depth++;
  };
  const memory = () => {
    const offset = goesWild() ? value(random) : BigInt(random.int(200));
    const opcode = random.pick([OP.mload, OP.mstore, OP.mstore, OP.mstore8]);
    if (opcode !== OP.mload) need(1);
    push(offset);
    op(opcode);
    took(opcode === OP.mload ? 1 : 2, opcode === OP.mload ? 1 : 0);
  };
  const copy = () => {
    const opcode = pickOpcode([OP.callDataCopy, OP.codeCopy, OP.extCodeCopy, OP.returnDataCopy, OP.mcopy]);
    push(goesWild() ? value(random) : BigInt(random.int(70)));
    push(goesWild() ? value(random) : BigInt(random.int(70)));
    push(goesWild() ? value(random) : BigInt(random.int(100)));
    if (opcode === OP.extCodeCopy) pushAddress();
    // RETURNDATACOPY beyond the data halts: keep it within most of the time.
    if (opcode === OP.returnDataCopy && random.chance(0.95)) {
      for (let i = 0; i < 3; i++) op(OP.pop);
      items.push("3d60006000");
    }
    op(opcode);
    took(opcode === OP.extCodeCopy ? 4 : 3, 0);
  };
  const state = () => {
    const transient = exists(OP.tload) ? 1 : 0;
    const opcode = random.weighted([
      [3, OP.sload],
      [5, OP.sstore],
      [transient, OP.tload],
      [transient, OP.tstore],
    ] as const);
    const writes = opcode === OP.sstore || opcode === OP.tstore;
    if (writes) push(random.chance(0.8) ? BigInt(random.int(3)) : value(random));
    slot();
    op(opcode);
    took(writes ? 2 : 1, writes ? 0 : 1);
  };
  const query = () => {
    const opcode = pickOpcode([...ADDRESS_QUERIES, ...ADDRESS_QUERIES, OP.callDataLoad, OP.blockHash, OP.blobHash]);
    if (ADDRESS_QUERIES.includes(opcode)) pushAddress();
    else if (opcode === OP.blockHash) push(BigInt(740 + random.int(265)));
    else push(random.chance(0.9) ? BigInt(random.int(40)) : value(random));
    op(opcode);
  };
  const hashOrLog = () => {
    const topics = random.int(5);
    const logs = random.chance(0.4);
    if (logs) for (let i = 0; i < topics; i++) pushAny();
    pushRange();
    op(logs ? OP.log0 + topics : OP.keccak256);
    took(logs ? topics + 2 : 2, logs ? 0 : 1);
  };
  const shuffle = () => {
    const n = 1 + random.int(random.chance(0.8) ? 4 : 16);
    const swaps = random.chance(0.5);
    need(swaps ? n + 1 : n);
    op((swaps ? 0x8f : 0x7f) + n);
    if (!swaps) depth++;
  };
  const call = () => {
    const opcode = pickOpcode(CALLS);
    pushRange();
    pushRange();
    if (opcode !== OP.delegateCall && opcode !== OP.staticCall) {
      push(random.chance(0.6) ? 0n : random.pick([1n, 5n, 1_000_000n, 2n ** 200n]));
    }
    pushAddress();
    if (random.chance(0.4)) {
      op(OP.gas);
      depth++;
    } else push(random.chance(0.1) ? value(random) : BigInt(random.pick(GAS_VALUES)));
    op(opcode);
    took(opcode === OP.delegateCall || opcode === OP.staticCall ? 6 : 7, 1);
  };
  const create = () => {
    const init = random.chance(0.6) ? random.pick(INIT_CODES) : hex(random.bytes(1 + random.int(32)));
    const code = init.slice(0, 64);
    pushBytes(code.padEnd(64, "0"));
    push(0n);
    op(OP.mstore);
    const salted = exists(OP.create2) && random.chance(0.4);
    if (salted) push(BigInt(random.int(2)));
    push(goesWild() ? value(random) : BigInt(code.length / 2));
    push(0n);
    push(random.chance(0.7) ? 0n : random.pick([1n, 5n, 2n ** 200n]));
    op(salted ? OP.create2 : OP.create);
    took(salted ? 6 : 5, 1);
    if (random.chance(0.5)) callCreated();
  };
  /** Calls the address on top of the stack. */
  const callCreated = () => {
    const value = random.chance(0.8) ? "6000" : "6001";
    items.push(`6000600060006000${value}`, "85", random.chance(0.7) ? "5a" : "61ffff", "f1");
    depth++;
  };
  const branch = () => {
    const label = `L${labels++}`;
    if (random.chance(0.7)) pushAny();
    else need(1);
    items.push(`@${label}`, byte(OP.jumpi));
    took(1, 0);
    const before = depth;
    for (let i = random.int(5); i > 0; i--) snippet();
    if (random.chance(0.1)) end();
    items.push(`#${label}`);
    depth = Math.min(before, depth);
  };
  const loop = () => {
    const label = `L${labels++}`;
    push(BigInt(1 + random.int(6)));
    items.push(`#${label}`);
    const before = depth;
    for (let i = 1 + random.int(3); i > 0; i--) snippet();
    while (depth > before) {
      op(OP.pop);
      depth--;
    }
    // counter − 1, again while it is not 0
    items.push("6001", "90", "03", "80", `@${label}`, byte(OP.jumpi), byte(OP.pop));
    took(1, 0);
  };
  const wild = () => {
    const choice = random.int(4);
    if (choice === 0) op(random.int(256));
    else if (choice === 1) items.push("5b");
    else if (choice === 2) {
      push(BigInt(random.int(60)));
      op(random.pick([OP.jump, OP.jumpi]));
      took(1, 0);
    } else {
      need(1);
      op(OP.pop);
      took(1, 0);
    }
  };
  const snippet = (): void => {
    random.weighted([
      [12, pushAny],
      [22, pure],
      [6, source],
      [10, memory],
      [5, copy],
      [12, state],
      [7, query],
      [6, hashOrLog],
      [8, shuffle],
      [10, call],
      [4, create],
      [items.length < 400 ? 5 : 0, branch],
      [items.length < 400 ? 2 : 0, loop],
      [0.4, wild],
    ] as const)();
  };
  const end = () => {
    const choice = random.int(12);
    if (choice < 5) {
      pushRange();
      op(random.chance(0.7) || !exists(OP.revert) ? OP.return : OP.revert);
    } else if (choice < 7) {
      pushAddress();
      op(OP.selfDestruct);
    } else if (choice === 7) op(0xfe);
    else if (choice === 8) op(0x00);
    else if (choice === 9) items.push(random.pick(["60", "7f11", "61ab"]));
  };
  return {
    items,
    program(length) {
      for (let i = 0; i < length; i++) snippet();
      end();
    },
  };
}

const GAS_VALUES = [0, 1, 700, 2299, 2300, 2301, 5000, 9000, 20_000, 50_000, 1_000_000];

/** Words at the borders of what arithmetic distinguishes. */
function value(random: Random): bigint {
  return random.weighted<() => bigint>([
    [6, () => BigInt(random.int(4))],
    [4, () => BigInt(random.int(300))],
    [2, () => BigInt(random.pick([31, 32, 33, 63, 64, 255, 256, 257, 1023, 1024, 1025]))],
    [2, () => BigInt.asUintN(256, (1n << BigInt(random.int(257))) + BigInt(random.int(3) - 1))],
    [2, () => BigInt.asUintN(256, -(1n << BigInt(random.int(256))) + BigInt(random.int(3) - 1))],
    [2, () => BigInt(`0x${hex(random.bytes(32))}`)],
    [1, () => BigInt(`0x${hex(random.bytes(1 + random.int(31)))}`)],
  ])();
}

function range(from: number, to: number, pops: number): [number, number][] {
  return Array.from({ length: to - from + 1 }, (_, i) => [from + i, pops]);
}

function byte(value: number): string {
  return value.toString(16).padStart(2, "0");
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
