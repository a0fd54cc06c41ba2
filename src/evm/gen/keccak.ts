import { KECCAK_ROUND_CONSTANTS, KECCAK_STATE } from "../layout.ts";
import { i32, i64, type Local, memory, type Operand } from "../wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../wasm/function.ts";
import type { ModuleBuilder } from "../wasm/module.ts";
import { wordFromBytes } from "./words.ts";

/** Bytes absorbed by one permutation of Keccak-256: 1600 − 2·256 bits. */
const RATE = 136;
const ROUNDS = 24;

/** Rotation of lane x + 5y (FIPS 202, 3.2.2). */
const ROTATIONS = [
  0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
];

/** The round constants of step ι from their shift register (FIPS 202, 3.2.5). */
export function keccakRoundConstants(): bigint[] {
  let register = 1;
  return Array.from({ length: ROUNDS }, () => {
    let constant = 0n;
    for (let j = 0; j < 7; j++) {
      if (register & 1) constant |= 1n << BigInt((1 << j) - 1);
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0);
    }
    return constant;
  });
}

/** keccak(bytes, size, target): writes the Keccak-256 hash of memory as a word. */
export function defineKeccak(module: ModuleBuilder): FunctionRef {
  const permute = definePermutation(module);
  return module.define(["i32", "i32", "i32"], [], (f, bytes_, size_, target_) => {
    const bytes = bytes_!;
    const size = size_!;
    f.do(memory.fill(KECCAK_STATE, 0, 200));
    f.block((done) =>
      f.loop((again) => {
        f.brIf(done, i32.ltU(size, RATE));
        for (let lane = 0; lane < RATE / 8; lane++) absorb(f, lane * 8, i64.load(bytes, lane * 8));
        f.do(call(permute));
        f.set(bytes, i32.add(bytes, RATE));
        f.set(size, i32.sub(size, RATE));
        f.br(again);
      }),
    );
    const at = f.i32(KECCAK_STATE);
    f.block((done) =>
      f.loop((again) => {
        f.brIf(done, i32.ltU(size, 8));
        f.do(i64.store(at, i64.xor(i64.load(at), i64.load(bytes))));
        f.set(bytes, i32.add(bytes, 8));
        f.set(at, i32.add(at, 8));
        f.set(size, i32.sub(size, 8));
        f.br(again);
      }),
    );
    // The last, partial lane; then the padding 0x01 … 0x80.
    const shift = f.i64(0n);
    const tail = f.i64(0n);
    f.block((done) =>
      f.loop((again) => {
        f.brIf(done, i32.eqz(size));
        f.set(tail, i64.or(tail, i64.shl(i64.load8(bytes), shift)));
        f.set(bytes, i32.add(bytes, 1));
        f.set(shift, i64.add(shift, 8n));
        f.set(size, i32.sub(size, 1));
        f.br(again);
      }),
    );
    f.set(tail, i64.or(tail, i64.shl(1n, shift)));
    f.do(i64.store(at, i64.xor(i64.load(at), tail)));
    absorb(f, RATE - 8, i64.of(1n << 63n));
    f.do(call(permute));
    wordFromBytes(f, target_!, KECCAK_STATE);
  });
}

function absorb(f: FunctionBuilder, offset: number, lane: Operand): void {
  f.do(i64.store(KECCAK_STATE, i64.xor(i64.load(KECCAK_STATE, offset), lane), offset));
}

/** Keccak-f[1600] on the state in memory; its 25 lanes stay in variables for all rounds. */
function definePermutation(module: ModuleBuilder): FunctionRef {
  return module.define([], [], (f) => {
    const lanes = Array.from({ length: 25 }, (_, i) => f.i64(i64.load(KECCAK_STATE, 8 * i)));
    const round = f.i32(0);
    f.loop((again) => {
      f.scope(() => {
        theta(f, lanes);
        const moved = rhoAndPi(f, lanes);
        chi(f, lanes, moved);
        f.set(lanes[0]!, i64.xor(lanes[0]!, i64.load(round, KECCAK_ROUND_CONSTANTS)));
      });
      f.set(round, i32.add(round, 8));
      f.brIf(again, i32.ltU(round, 8 * ROUNDS));
    });
    lanes.forEach((lane, i) => {
      f.do(i64.store(KECCAK_STATE, lane, 8 * i));
    });
  });
}

function theta(f: FunctionBuilder, lanes: readonly Local[]): void {
  const columns = [0, 1, 2, 3, 4].map((x) =>
    f.i64([5, 10, 15, 20].reduce((sum, y) => i64.xor(sum, lanes[x + y]!), i64.of(lanes[x]!))),
  );
  for (let x = 0; x < 5; x++) {
    const d = f.i64(i64.xor(columns[(x + 4) % 5]!, i64.rotl(columns[(x + 1) % 5]!, 1n)));
    for (let y = 0; y < 25; y += 5) f.set(lanes[x + y]!, i64.xor(lanes[x + y]!, d));
  }
}

function rhoAndPi(f: FunctionBuilder, lanes: readonly Local[]): Local[] {
  const moved = new Array<Local>(25);
  for (let x = 0; x < 5; x++) {
    for (let y = 0; y < 5; y++) {
      const from = x + 5 * y;
      moved[y + 5 * ((2 * x + 3 * y) % 5)] = f.i64(
        i64.rotl(lanes[from]!, BigInt(ROTATIONS[from]!)),
      );
    }
  }
  return moved;
}

function chi(f: FunctionBuilder, lanes: readonly Local[], moved: readonly Local[]): void {
  for (let y = 0; y < 25; y += 5) {
    for (let x = 0; x < 5; x++) {
      const next = moved[y + ((x + 1) % 5)]!;
      const afterNext = moved[y + ((x + 2) % 5)]!;
      f.set(lanes[x + y]!, i64.xor(moved[x + y]!, i64.and(i64.xor(next, -1n), afterNext)));
    }
  }
}
