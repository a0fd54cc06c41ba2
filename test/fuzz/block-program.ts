import type { Address } from "../../src/base/primitives/address.ts";
import type { CodeItem } from "./case.ts";
import type { Random } from "./random.ts";

/** The world that the code of a block's contracts speaks of. */
export type ProgramWorld = {
  readonly random: Random;
  /** Addresses to call, read and name as beneficiaries. */
  readonly targets: readonly Address[];
  /** How deep init code may contain init code. */
  readonly depth?: number;
};

const SLOTS = [0, 0, 1, 2];
const CALLS = { call: "f1", callCode: "f2", delegateCall: "f4", staticCall: "fa" } as const;
const CALL_GAS = [0, 1, 100, 2299, 2300, 2301, 2400, 3000, 5000, 9000, 12_000, 30_000, 100_000, 200_000, 1_000_000];
/** Sizes of code at the borders of deposits: words, EIP-170, EIP-7954. */
const CODE_SIZES = [0, 1, 31, 32, 33, 64, 65, 100, 700, 24_576, 24_577, 32_768, 65_536, 65_537];
const INIT_SIZES = [0, 1, 32, 33, 49_152, 49_153, 131_072, 131_073];

/**
 * Code of `length` statements about state, calls and gas, and an end: what EIP-8037 charges, refills and takes back. Most statements leave
 * the stack as they found it.
 */
export function programOf(world: ProgramWorld, length: number): CodeItem[] {
  const { random } = world;
  const items: CodeItem[] = [];
  let labels = 0;
  for (let i = 0; i < length; i++) {
    // What follows depends on the gas that is left: whoever counts otherwise does something else.
    const isConditional = random.chance(0.08);
    const label = `S${labels++}`;
    if (isConditional) items.push("6001", "5a", "16", `@${label}`, "57");
    items.push(...statement(world));
    if (isConditional) items.push(`#${label}`);
  }
  return [...items, ...end(world)];
}

function statement(world: ProgramWorld): CodeItem[] {
  const { random } = world;
  return random.weighted<() => CodeItem[]>([
    [10, () => [store(random)]],
    [3, () => [`${push(random.pick(SLOTS))}5450`]],
    [10, () => [call(world)]],
    [5, () => create(world)],
    [2, () => [`${pushAddress(world)}${random.pick(["31", "3b", "3f"])}50`]],
    [1, () => [`${push(random.pick([0, 1, 33, 2000]))}5f${push(random.pick([0, 64]))}${pushAddress(world)}3c`]],
    [1, () => [`5a${push(random.int(3))}55`]],
    [1, () => [`4b${push(random.int(3))}55`]],
    [1, () => [`47${push(random.int(3))}55`]],
    [1, () => [`${push(random.int(3))}${push(random.int(3))}5d`]],
    [1, () => [`${push(random.int(3))}5c${push(random.int(3))}55`]],
    [1, () => [`${push(random.int(40))}5fa0`, `60016002${push(random.int(40))}5fa2`]],
    [3, () => deepStack(random)],
    [0.5, () => [`5f${push(random.pick([1000, 20_000, 100_000]))}52`]],
    [0.4, () => [`5f${push(random.int(300))}40${push(random.int(3))}55`]],
    [0.3, () => burn(random)],
    [0.2, () => ["5b", "fe"]],
  ])();
}

/** SSTORE of small values, so that slots come back to what they were. */
function store(random: Random): string {
  const value = random.pick([0, 0, 1, 2]);
  return `${push(value)}${push(random.pick(SLOTS))}55`;
}

function call(world: ProgramWorld): string {
  const { random } = world;
  const kind = random.pick(["call", "call", "call", "callCode", "delegateCall", "staticCall"] as const);
  const size = random.pick([0, 0, 0, 32, 64, 1000]);
  const hasValue = kind === "call" || kind === "callCode";
  const value = hasValue ? (random.chance(0.5) ? push(0) : amount(random)) : "";
  const gas = random.chance(0.6) ? "5a" : push(random.pick(CALL_GAS));
  const memory = `${push(random.pick([0, 0, 32]))}${push(random.pick([0, 96, 5000]))}${push(size)}5f`;
  const result = random.chance(0.25) ? `${push(random.int(3))}55` : "50";
  return `${memory}${value}${pushAddress(world)}${gas}${CALLS[kind]}${result}`;
}

/** wei; more than an account has, at times */
function amount(random: Random): string {
  return random.chance(0.9) ? push(random.pick([1, 1, 2, 1000])) : `6f${"ff".repeat(16)}`;
}

function create(world: ProgramWorld): CodeItem[] {
  const { random } = world;
  const isSalted = random.chance(0.5);
  const salt = isSalted ? push(random.int(2)) : "";
  const value = random.chance(0.6) ? push(0) : amount(random);
  const { items, size } = random.chance(0.08)
    ? { items: [], size: random.pick(INIT_SIZES) }
    : inMemory(initCode(world));
  const after = random.weighted<() => CodeItem[]>([
    [4, () => ["50"]],
    [2, () => [`${push(random.int(3))}55`]],
    // Calls what was created, with value or without.
    [2, () => [`5f5f5f5f${push(random.int(2))}855af15050`]],
  ])();
  return [...items, `${salt}${push(size)}5f${value}${isSalted ? "f5" : "f0"}`, ...after];
}

/** Code that writes `code` to memory from 0 on. */
function inMemory(code: string): { items: CodeItem[]; size: number } {
  const size = code.length / 2;
  const items: CodeItem[] = [];
  for (let at = 0; at < size; at += 32) {
    const word = code.slice(2 * at, 2 * at + 64).padEnd(64, "0");
    items.push(`7f${word}${push(at)}52`);
  }
  return { items, size };
}

/** Hex digits of init code, and of what it leaves. */
export function initCode(world: ProgramWorld): string {
  const { random, depth = 2 } = world;
  const inner = { ...world, depth: depth - 1 };
  const body = () => (depth <= 0 ? "" : Array.from({ length: random.int(3) }, () => plain(statement(inner))).join(""));
  return random.weighted<() => string>([
    [1, () => ""],
    [3, () => `${body()}${push(random.pick(CODE_SIZES))}5ff3`],
    [1, () => `${body()}60ef5f5360015ff3`],
    [2, () => `${body()}${push(random.int(40))}5ffd`],
    [1, () => `${body()}fe`],
    [1, () => `${body()}${random.pick(["30", "33", pushAddress(world)])}ff`],
    [
      3,
      () =>
        `${body()}${deploys(plain([store(random)]) + random.pick(["00", "30ff", "33ff", `${pushAddress(world)}ff`, "5f5ffd"]))}`,
    ],
  ])();
}

/** Init code that leaves `code`, at most 32 bytes of it. */
function deploys(code: string): string {
  const bytes = code.slice(0, 64);
  const size = bytes.length / 2;
  return `${(0x5f + size).toString(16)}${bytes}5f52${push(size)}${push(32 - size)}f3`;
}

/** Without labels: those of conditions are for whole programs. */
function plain(items: readonly CodeItem[]): string {
  return items.filter((item) => !item.startsWith("@") && !item.startsWith("#")).join("");
}

/** DUPN, SWAPN, EXCHANGE (EIP-8024) with any immediate, over a stack that may be too short, and its top stored. */
function deepStack(random: Random): CodeItem[] {
  const opcode = random.pick(["e6", "e7", "e8"]);
  const immediate = random.chance(0.1)
    ? random.pick([0x5b, 0x5a, 0x5c, 0x60, 0x7f, 0x80, 0x51, 0x52])
    : random.int(256);
  const height = random.pick([2, 17, 18, 20, 30, 240]);
  const words = Array.from({ length: height }, (_, i) => push(i + 1)).join("");
  const store = `${push(random.int(3))}55`;
  const label = `J${random.int(1_000_000)}`;
  // The immediate is a JUMPDEST as well.
  if (random.chance(0.1)) return [words, `@${label}`, "56", opcode, `#${label}`, store];
  return [words, `${opcode}${immediate.toString(16).padStart(2, "0")}`, store];
}

/** A loop of `n` turns, each some 60 gas. */
function burn(random: Random): CodeItem[] {
  const turns = random.pick([10, 100, 1000, 5000]);
  const label = `B${random.int(1_000_000)}`;
  return [push(turns), `#${label}`, "60019003", "80", `@${label}`, "57", "50"];
}

function end(world: ProgramWorld): CodeItem[] {
  const { random } = world;
  return random.weighted<() => CodeItem[]>([
    [6, () => ["00"]],
    [2, () => [`${push(random.int(70))}5ff3`]],
    [3, () => [`${push(random.int(70))}5ffd`]],
    [1, () => ["fe"]],
    [2, () => [`${random.chance(0.3) ? "30" : pushAddress(world)}ff`]],
    [0.5, () => [random.pick(["e6", "e7", "e8", "60", "5f5f5fe6"])]],
    [0.5, () => [`${push(0)}${push(random.pick([0xffff, 0xffffff]))}52`]],
  ])();
}

function pushAddress({ random, targets }: ProgramWorld): string {
  return random.weighted<() => string>([
    [20, () => `73${random.pick(targets).slice(2)}`],
    [1, () => "30"],
    [1, () => "33"],
    [0.5, () => "41"],
  ])();
}

/** The shortest PUSH of `value`. */
function push(value: number): string {
  if (value === 0) return "5f";
  const digits = value.toString(16);
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  return `${(0x5f + even.length / 2).toString(16)}${even}`;
}
