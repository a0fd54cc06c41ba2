import {
  HASH_SLOT_SIZE,
  HASH_SLOTS_BITS,
  HASHES,
  KECCAK_ROUND_CONSTANTS,
  KECCAK_STATE,
} from "../layout.ts";
import { type Code, i32, i64, type Local, type Operand, v128 } from "../wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../wasm/function.ts";
import type { ModuleBuilder } from "../wasm/module.ts";
import { copyWord, wordFromBytes } from "./words.ts";

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
    // Inline stores: a fill is a call into the runtime.
    for (let at = 0; at < 200; at += 16) f.do(v128.store(KECCAK_STATE, v128.zero, at));
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

/**
 * keccakOfPair(bytes, target): as keccak for 64 bytes, which is how Solidity names a slot of a mapping: one contract hashes
 * the same few pairs over and over, and looking one up takes a thirtieth of the time. Each pair has one place, and the
 * last that came there stays.
 */
export function defineKeccakOfPair(module: ModuleBuilder, keccak: FunctionRef): FunctionRef {
  const halves = [0, 16, 32, 48];
  const hash = 64;
  return module.define(["i32", "i32"], [], (f, bytes_, target_) => {
    const bytes = bytes_!;
    const target = target_!;
    const mixed = [1, 2, 3, 4, 5, 6, 7].reduce<Code>(
      (sum, i) => i64.xor(i64.rotl(sum, 7n), i64.load(bytes, 8 * i)),
      i64.load(bytes),
    );
    const index = i64.shrU(i64.mul(mixed, 0x9e3779b97f4a7c15n), BigInt(64 - HASH_SLOTS_BITS));
    const slot = f.i32(i32.add(i32.mul(i32.wrap(index), HASH_SLOT_SIZE), HASHES));
    const differing = halves
      .map((at) => v128.xor(v128.load(slot, at), v128.load(bytes, at)))
      .reduce((a, b) => v128.or(a, b));
    // A slot never written is 64 zero bytes with a hash of 0, which is not theirs.
    const isWritten = i64.ne(i64.load(slot, hash), 0n);
    f.if(i32.and(i32.eqz(v128.anyTrue(differing)), isWritten), () => {
      copyWord(f, target, slot, 0, hash);
      f.return();
    });
    f.do(call(keccak, bytes, 64, target));
    for (const at of halves) f.do(v128.store(slot, v128.load(bytes, at), at));
    copyWord(f, slot, target, hash);
  });
}

function absorb(f: FunctionBuilder, offset: number, lane: Operand): void {
  f.do(i64.store(KECCAK_STATE, i64.xor(i64.load(KECCAK_STATE, offset), lane), offset));
}

/**
 * A lane whose variable may hold the complement of its value. WebAssembly has no and-not, so step χ would need a NOT for
 * each lane; with the right lanes complemented most of them vanish ("lane complementing", Keccak implementation overview 2.2).
 */
type Lane = { readonly value: Operand; readonly isComplement: boolean };

/** The lanes x + 5y that are complements before each round and after the last. */
const COMPLEMENTS = new Set([1, 2, 8, 12, 17, 20]);

/** Keccak-f[1600] on the state in memory; its 25 lanes stay in variables for all rounds. */
function definePermutation(module: ModuleBuilder): FunctionRef {
  return module.define([], [], (f) => {
    const held = (i: number, value: Operand) => (COMPLEMENTS.has(i) ? not(value) : value);
    const lanes = Array.from({ length: 25 }, (_, i) =>
      f.i64(held(i, i64.load(KECCAK_STATE, 8 * i))),
    );
    const round = f.i32(0);
    f.loop((again) => {
      f.scope(() => {
        chi(f, lanes, rhoAndPi(f, theta(f, lanes)));
        f.set(lanes[0]!, i64.xor(lanes[0]!, i64.load(round, KECCAK_ROUND_CONSTANTS)));
      });
      f.set(round, i32.add(round, 8));
      f.brIf(again, i32.ltU(round, 8 * ROUNDS));
    });
    lanes.forEach((lane, i) => {
      f.do(i64.store(KECCAK_STATE, held(i, lane), 8 * i));
    });
  });
}

function not(value: Operand): Operand {
  return i64.xor(value, -1n);
}

function theta(f: FunctionBuilder, variables: readonly Local[]): Lane[] {
  const lanes = variables.map((value, i): Lane => ({ value, isComplement: COMPLEMENTS.has(i) }));
  const columns = [0, 1, 2, 3, 4].map((x) =>
    [5, 10, 15, 20].reduce((sum, y) => xor(sum, lanes[x + y]!), lanes[x]!),
  );
  const parities = columns.map(({ value, isComplement }) => ({
    value: f.i64(value),
    isComplement,
  }));
  const effects = parities.map((_, x): Lane => {
    const { value, isComplement } = parities[(x + 1) % 5]!;
    const effect = xor(parities[(x + 4) % 5]!, { value: i64.rotl(value, 1n), isComplement });
    return { value: f.i64(effect.value), isComplement: effect.isComplement };
  });
  return lanes.map((lane, i) => xor(lane, effects[i % 5]!));
}

function xor(a: Lane, b: Lane): Lane {
  return { value: i64.xor(a.value, b.value), isComplement: a.isComplement !== b.isComplement };
}

function rhoAndPi(f: FunctionBuilder, lanes: readonly Lane[]): Lane[] {
  const moved = new Array<Lane>(25);
  for (let x = 0; x < 5; x++) {
    for (let y = 0; y < 5; y++) {
      const { value, isComplement } = lanes[x + 5 * y]!;
      const rotation = BigInt(ROTATIONS[x + 5 * y]!);
      const rotated = f.i64(rotation === 0n ? value : i64.rotl(value, rotation));
      moved[y + 5 * ((2 * x + 3 * y) % 5)] = { value: rotated, isComplement };
    }
  }
  return moved;
}

/** a ⊕ (¬b ∧ c) for each lane and its two neighbours to the right, by whichever form needs the fewest NOTs. */
function chi(f: FunctionBuilder, variables: readonly Local[], lanes: readonly Lane[]): void {
  for (let y = 0; y < 25; y += 5) {
    for (let x = 0; x < 5; x++) {
      const a = lanes[x + y]!;
      const b = lanes[y + ((x + 1) % 5)]!;
      const c = lanes[y + ((x + 2) % 5)]!;
      // Whether the term must come out complemented for the result to be held as the next round wants it.
      const wantsComplement = a.isComplement !== COMPLEMENTS.has(x + y);
      let term: Operand;
      if (b.isComplement === c.isComplement) {
        const [plain, negated] = b.isComplement === wantsComplement ? [c, b] : [b, c];
        term = (wantsComplement ? i64.or : i64.and)(plain.value, not(negated.value));
      } else {
        // ¬b ∧ c is at hand, or its complement b ∨ ¬c.
        term = (b.isComplement ? i64.and : i64.or)(b.value, c.value);
        if (wantsComplement === b.isComplement) term = not(term);
      }
      f.set(variables[x + y]!, i64.xor(a.value, term));
    }
  }
}
