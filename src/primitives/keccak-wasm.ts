/**
 * Keccak-f[1600] with the sponge of Keccak-256 as a WebAssembly module, put together here byte by byte: 64-bit lanes are native
 * there, and BigInt or pairs of numbers are ten times slower. No compiler, no binary in the repository.
 *
 *     0    state, 25 lanes of 8 bytes, zero between messages
 *     200  digest, 32 bytes
 *     256  round constants, 24 of 8 bytes
 *     448  message
 */

/** Bytes a block of the sponge takes in: (1600 − 2 × 256) bits. */
export const RATE = 136;
export const DIGEST_OFFSET = 200;
export const DIGEST_LENGTH = 32;
export const MESSAGE_OFFSET = 448;

export type KeccakModule = {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Takes in `count` whole blocks that begin at `offset`. */
  absorb(offset: number, count: number): void;
  /** Takes in the last `length` bytes, pads, and leaves the digest at 200. Needs 136 bytes after the message. */
  finish(offset: number, length: number): void;
};

/** The part of the global that the Node type definitions leave to the browser's. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

/** @param pages of 64 KiB that the memory has */
export function createKeccakModule(pages: number): KeccakModule {
  const module = new WebAssembly.Module(moduleBytes(pages));
  return new WebAssembly.Instance(module).exports as KeccakModule;
}

/** Rotation of lane x + 5y: FIPS 202, section 3.2.2. */
export const ROTATIONS: readonly number[] = [
  0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
];
const ROUNDS = 24;
const ROUND_CONSTANTS_OFFSET = 256;

const I32 = 0x7f;
const I64 = 0x7e;

const BLOCK = 0x02;
const LOOP = 0x03;
const IF = 0x04;
const END = 0x0b;
const BR = 0x0c;
const BR_IF = 0x0d;
const CALL = 0x10;
const LOCAL_GET = 0x20;
const LOCAL_SET = 0x21;
const LOCAL_TEE = 0x22;
const I32_LOAD8_U = 0x2d;
const I64_LOAD = 0x29;
const I64_STORE = 0x37;
const I32_STORE8 = 0x3a;
const I32_CONST = 0x41;
const I64_CONST = 0x42;
const I32_EQZ = 0x45;
const I32_ADD = 0x6a;
const I32_LT_U = 0x49;
const I32_SUB = 0x6b;
const I32_MUL = 0x6c;
const I32_DIV_U = 0x6e;
const I32_OR = 0x72;
const I64_AND = 0x83;
const I64_XOR = 0x85;
const I64_ROTL = 0x89;
const MEMORY_COPY = [0xfc, 0x0a, 0x00, 0x00];
const MEMORY_FILL = [0xfc, 0x0b, 0x00];
const VOID = 0x40;
const MINUS_ONE = [I64_CONST, 0x7f];

type Code = readonly number[];

function moduleBytes(pages: number): Uint8Array<ArrayBuffer> {
  const functionType = [0x60, 2, I32, I32, 0];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector([functionType])),
    ...section(3, vector([[0], [0]])),
    ...section(5, vector([[0x00, ...unsigned(pages)]])),
    ...section(
      7,
      vector([
        [...text("memory"), 2, 0],
        [...text("absorb"), 0, 0],
        [...text("finish"), 0, 1],
      ]),
    ),
    ...section(10, vector([absorbBody(), finishBody()])),
    ...section(
      11,
      vector([
        [
          0,
          ...constant(ROUND_CONSTANTS_OFFSET),
          END,
          ...vector(Array.from(roundConstants(), (byte) => [byte])),
        ],
      ]),
    ),
  ]);
}

/** Locals of `absorb`: 0 offset, 1 count, 2 place of the round constant, then lanes by their number x + 5y. */
const ROUND = 2;
const LANES = 3;
const NEXT_LANES = LANES + 25;
const COLUMNS = NEXT_LANES + 25;
const EFFECTS = COLUMNS + 5;
const ROW = EFFECTS + 5;
const LOCALS_END = ROW + 5;

function absorbBody(): Code {
  const code: number[] = [];
  for (let lane = 0; lane < 25; lane++) {
    code.push(...constant(0), I64_LOAD, 3, ...unsigned(8 * lane), LOCAL_SET, LANES + lane);
  }
  code.push(BLOCK, VOID, LOOP, VOID, LOCAL_GET, 1, I32_EQZ, BR_IF, 1);
  for (let lane = 0; lane < RATE / 8; lane++) {
    code.push(LOCAL_GET, LANES + lane, LOCAL_GET, 0, I64_LOAD, 0, ...unsigned(8 * lane));
    code.push(I64_XOR, LOCAL_SET, LANES + lane);
  }
  // One round in a loop: unrolling two of them is slower by a fifth, all of them by half, for want of registers.
  code.push(...constant(ROUND_CONSTANTS_OFFSET), LOCAL_SET, ROUND, LOOP, VOID, ...roundCode());
  for (let lane = 0; lane < 25; lane++) {
    code.push(LOCAL_GET, NEXT_LANES + lane, LOCAL_SET, LANES + lane);
  }
  code.push(LOCAL_GET, ROUND, ...constant(8), I32_ADD, LOCAL_TEE, ROUND);
  code.push(...constant(ROUND_CONSTANTS_OFFSET + 8 * ROUNDS), I32_LT_U, BR_IF, 0, END);
  code.push(LOCAL_GET, 0, ...constant(RATE), I32_ADD, LOCAL_SET, 0);
  code.push(LOCAL_GET, 1, ...constant(1), I32_SUB, LOCAL_SET, 1, BR, 0, END, END);
  for (let lane = 0; lane < 25; lane++) {
    code.push(...constant(0), LOCAL_GET, LANES + lane, I64_STORE, 3, ...unsigned(8 * lane));
  }
  return functionBody(
    [
      [1, I32],
      [LOCALS_END - LANES, I64],
    ],
    code,
  );
}

/** theta, rho, pi, chi, iota (FIPS 202, section 3.2) from LANES to NEXT_LANES, a row of the result at a time. */
function roundCode(): Code {
  const code: number[] = [];
  for (let x = 0; x < 5; x++) {
    code.push(LOCAL_GET, LANES + x);
    for (let y = 1; y < 5; y++) code.push(LOCAL_GET, LANES + x + 5 * y, I64_XOR);
    code.push(LOCAL_SET, COLUMNS + x);
  }
  for (let x = 0; x < 5; x++) {
    code.push(LOCAL_GET, COLUMNS + ((x + 1) % 5), I64_CONST, 1, I64_ROTL);
    code.push(LOCAL_GET, COLUMNS + ((x + 4) % 5), I64_XOR, LOCAL_SET, EFFECTS + x);
  }
  for (let y = 0; y < 5; y++) {
    for (let x = 0; x < 5; x++) {
      const column = (x + 3 * y) % 5;
      const lane = column + 5 * x;
      code.push(LOCAL_GET, LANES + lane, LOCAL_GET, EFFECTS + column, I64_XOR);
      if (ROTATIONS[lane] !== 0) code.push(I64_CONST, ...signed(ROTATIONS[lane]!), I64_ROTL);
      code.push(LOCAL_SET, ROW + x);
    }
    for (let x = 0; x < 5; x++) {
      code.push(LOCAL_GET, ROW + ((x + 1) % 5), ...MINUS_ONE, I64_XOR);
      code.push(LOCAL_GET, ROW + ((x + 2) % 5), I64_AND, LOCAL_GET, ROW + x, I64_XOR);
      if (x + y === 0) code.push(LOCAL_GET, ROUND, I64_LOAD, 3, 0, I64_XOR);
      code.push(LOCAL_SET, NEXT_LANES + x + 5 * y);
    }
  }
  return code;
}

/** Locals: 0 offset, 1 length, 2 whole blocks. */
function finishBody(): Code {
  const code: number[] = [];
  code.push(LOCAL_GET, 1, ...constant(RATE), I32_DIV_U, LOCAL_TEE, 2);
  code.push(IF, VOID, LOCAL_GET, 0, LOCAL_GET, 2, CALL, 0);
  // What is left begins at `offset`, and has `length` bytes.
  code.push(LOCAL_GET, 2, ...constant(RATE), I32_MUL, LOCAL_TEE, 2);
  code.push(LOCAL_GET, 0, I32_ADD, LOCAL_SET, 0);
  code.push(LOCAL_GET, 1, LOCAL_GET, 2, I32_SUB, LOCAL_SET, 1, END);
  // Padding 0x01 0x00 … 0x80; both ends can be the same byte.
  code.push(LOCAL_GET, 0, LOCAL_GET, 1, I32_ADD, ...constant(0));
  code.push(...constant(RATE), LOCAL_GET, 1, I32_SUB, ...MEMORY_FILL);
  code.push(LOCAL_GET, 0, LOCAL_GET, 1, I32_ADD, ...constant(1), I32_STORE8, 0, 0);
  code.push(LOCAL_GET, 0, LOCAL_GET, 0, I32_LOAD8_U, 0, ...unsigned(RATE - 1));
  code.push(...constant(0x80), I32_OR, I32_STORE8, 0, ...unsigned(RATE - 1));
  code.push(LOCAL_GET, 0, ...constant(1), CALL, 0);
  code.push(...constant(DIGEST_OFFSET), ...constant(0), ...constant(DIGEST_LENGTH), ...MEMORY_COPY);
  code.push(...constant(0), ...constant(0), ...constant(DIGEST_OFFSET), ...MEMORY_FILL);
  return functionBody([[1, I32]], code);
}

/** The constants of iota, 8 bytes each, made by their shift register: FIPS 202, section 3.2.5. */
export function roundConstants(): Uint8Array {
  const bytes = new Uint8Array(8 * ROUNDS);
  let register = 1;
  for (let round = 0; round < ROUNDS; round++) {
    for (let j = 0; j < 7; j++) {
      const bit = 2 ** j - 1;
      if (register & 1) bytes[8 * round + (bit >> 3)]! |= 1 << (bit & 7);
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0);
    }
  }
  return bytes;
}

function functionBody(locals: readonly Code[], code: Code): Code {
  const body = [...vector(locals), ...code, END];
  return [...unsigned(body.length), ...body];
}

function section(id: number, content: Code): Code {
  return [id, ...unsigned(content.length), ...content];
}

function vector(items: readonly Code[]): Code {
  return [...unsigned(items.length), ...items.flat()];
}

function text(name: string): Code {
  return [...unsigned(name.length), ...Buffer.from(name, "latin1")];
}

function constant(value: number): Code {
  return [I32_CONST, ...signed(value)];
}

/** LEB128 of a small non-negative integer. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** LEB128 of a small non-negative integer where a signed one is read: its last byte must not look negative. */
function signed(value: number): Code {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >>> 7)];
}
