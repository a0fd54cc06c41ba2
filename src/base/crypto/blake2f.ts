import { compileModule } from "../wasm/compile.ts";
import { type Checkpoint, noCheckpoint } from "./checkpoint.ts";

/**
 * The compression function F of BLAKE2b with a free number of rounds (RFC 7693, section 3.2; EIP-152), as a WebAssembly
 * module put together here: JavaScript has no 64-bit integers that are fast, and a caller may buy millions of rounds.
 * bench/micro/precompiles.ts has the rounds a second.
 *
 *     linear memory   0 state v, 16 words · 128 message m, 16 words
 */
const MESSAGE_OFFSET = 128;
const STATE_WORDS = 16;

/**
 * V8 exchanges baseline for optimised code only between calls, so a long run is cut into pieces.
 * A multiple of ten, for the message schedule repeats after ten rounds.
 */
const ROUNDS_PER_CALL = 20_000;

/** Which word of the message meets which step, round by round (RFC 7693, section 2.7). */
const SIGMA = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
] as const;

/** The columns of the state, then its diagonals. */
const MIXED_WORDS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

/** The initialisation vector as 32-bit words, low half first. */
const IV = Uint32Array.of(
  ...[0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1],
  ...[0xa54ff53a, 0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab],
  ...[0x137e2179, 0x5be0cd19],
);

type Core = { readonly memory: Uint8Array; mix(rounds: number): void };

let core: Core | undefined;

/**
 * F after `rounds` rounds, below 2^32.
 * @param h 64 bytes of chaining state
 * @param m 128 bytes of message
 * @param t 16 bytes of offset counter
 * @param final whether this is the last block
 * @returns the new chaining state, 64 bytes
 */
export function blake2f(
  rounds: number,
  h: Uint8Array,
  m: Uint8Array,
  t: Uint8Array,
  final: boolean,
  checkpoint: Checkpoint = noCheckpoint,
): Uint8Array {
  core ??= instantiate();
  const { memory, mix } = core;
  const v = new Uint32Array(memory.buffer, 0, 2 * STATE_WORDS);
  memory.set(h, 0);
  v.set(IV, 16);
  memory.set(m, MESSAGE_OFFSET);
  const counter = new Uint32Array(Uint8Array.from(t).buffer);
  for (let i = 0; i < 4; i++) v[24 + i]! ^= counter[i]!;
  if (final) {
    v[28]! ^= 0xffffffff;
    v[29]! ^= 0xffffffff;
  }
  let left = rounds;
  for (; left > ROUNDS_PER_CALL; left -= ROUNDS_PER_CALL) {
    mix(ROUNDS_PER_CALL);
    checkpoint();
  }
  mix(left);

  const out = Uint8Array.from(h);
  const state = new Uint32Array(out.buffer);
  for (let i = 0; i < 16; i++) state[i]! ^= v[i]! ^ v[i + 16]!;
  return out;
}

function instantiate(): Core {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const module = compileModule(Uint8Array.from(assemble()));
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return { memory: new Uint8Array(memory.buffer), mix: exports.mix as Core["mix"] };
}

const op = {
  block: 0x02,
  loop: 0x03,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  i64Load: 0x29,
  i64Store: 0x37,
  i32Const: 0x41,
  i64Const: 0x42,
  i32Eqz: 0x45,
  i32Sub: 0x6b,
  i64Add: 0x7c,
  i64Xor: 0x85,
  i64Rotr: 0x8a,
} as const;
const I32 = 0x7f;
const I64 = 0x7e;
const VOID = 0x40;
/** log2 of 8 bytes */
const WORD_ALIGNED = 3;
/** The base of a load or store whose whole address is its constant offset. */
const ZERO = [op.i32Const, 0];

/** The module: one function `mix(rounds: i32)` on an imported memory. Word i of the state is local 1 + i while it runs. */
function assemble(): number[] {
  const body = [
    ...words((i) => [...load(8 * i), op.localSet, 1 + i]),
    op.block,
    VOID,
    op.loop,
    VOID,
    ...SIGMA.flatMap(round),
    op.br,
    0,
    op.end,
    op.end,
    ...words((i) => [...ZERO, op.localGet, 1 + i, op.i64Store, WORD_ALIGNED, ...leb(8 * i)]),
    op.end,
  ];
  const locals = [1, STATE_WORDS, I64];
  const code = [...locals, ...body];
  return [
    0x00,
    0x61,
    0x73,
    0x6d,
    1,
    0,
    0,
    0,
    ...section(1, [1, 0x60, 1, I32, 0]),
    ...section(2, [1, ...name("env"), ...name("memory"), 0x02, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...name("mix"), 0x00, 0]),
    ...section(10, [1, ...leb(code.length), ...code]),
  ];
}

/** Leaves both blocks when no rounds are left, else takes one off and mixes. */
function round(sigma: readonly number[]): number[] {
  return [
    op.localGet,
    0,
    op.i32Eqz,
    op.brIf,
    1,
    op.localGet,
    0,
    op.i32Const,
    1,
    op.i32Sub,
    op.localSet,
    0,
    ...MIXED_WORDS.flatMap(([a, b, c, d], i) => [
      ...add(a, b, sigma[2 * i]),
      ...xorRotate(d, a, 32),
      ...add(c, d),
      ...xorRotate(b, c, 24),
      ...add(a, b, sigma[2 * i + 1]),
      ...xorRotate(d, a, 16),
      ...add(c, d),
      ...xorRotate(b, c, 63),
    ]),
  ];
}

/** v[to] += v[from], and the message word where one is given. */
function add(to: number, from: number, messageWord?: number): number[] {
  const sum = [op.localGet, 1 + to, op.localGet, 1 + from, op.i64Add];
  const message = messageWord === undefined ? [] : [...load(MESSAGE_OFFSET + 8 * messageWord), op.i64Add];
  return [...sum, ...message, op.localSet, 1 + to];
}

/** v[to] = (v[to] ^ v[from]) rotated right by `bits`. */
function xorRotate(to: number, from: number, bits: number): number[] {
  const xor = [op.localGet, 1 + to, op.localGet, 1 + from, op.i64Xor];
  // A byte below 64 is its own signed LEB128.
  return [...xor, op.i64Const, bits, op.i64Rotr, op.localSet, 1 + to];
}

function words(code: (index: number) => number[]): number[] {
  return Array.from({ length: STATE_WORDS }, (_, i) => code(i)).flat();
}

function section(id: number, content: number[]): number[] {
  return [id, ...leb(content.length), ...content];
}

function name(text: string): number[] {
  return [text.length, ...Buffer.from(text, "latin1")];
}

function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >> 7)];
}

function load(address: number): number[] {
  return [...ZERO, op.i64Load, WORD_ALIGNED, ...leb(address)];
}
