import { type Code, i32, i64, type Operand, v128 } from "../../../wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../../wasm/function.ts";
import type { ModuleBuilder } from "../../../wasm/module.ts";
import {
  HASH_SLOT_SIZE,
  HASH_SLOTS_BITS,
  HASHES,
  KECCAK_NEXT_STATE,
  KECCAK_ROUND_CONSTANTS,
  KECCAK_STATE,
} from "../../memory/layout.ts";
import { copyWord, reverseBytes } from "../words.ts";

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
    for (const lane of COMPLEMENTS) f.do(i64.store(KECCAK_STATE, -1n, 8 * lane));
    f.block((done) =>
      f.loop((again) => {
        f.brIf(done, i32.ltU(size, RATE));
        for (let lane = 0; lane < RATE / 8; lane++) absorb(f, lane * 8, i64.load(bytes, lane * 8));
        f.do(call(permute, WHOLE));
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
    f.do(call(permute, FIRST_PLANE));
    const digest = [0, 1, 2, 3].map((i) => {
      const lane = i64.load(KECCAK_STATE, 8 * i);
      return COMPLEMENTS.has(i) ? not(lane) : lane;
    });
    f.do(v128.store(target_!, reverseBytes(v128.pair(digest[2]!, digest[3]!))));
    f.do(v128.store(target_!, reverseBytes(v128.pair(digest[0]!, digest[1]!)), 16));
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
 * A lane that may be held as the complement of its value. WebAssembly has no and-not, so step χ would need a NOT for each
 * lane; with the right lanes complemented most of them vanish ("lane complementing", Keccak implementation overview 2.2).
 */
type Lane = { readonly value: Operand; readonly isComplement: boolean };

/** The lanes x + 5y that are held as complements between rounds. */
const COMPLEMENTS = new Set([1, 2, 8, 12, 17, 20]);

/** The index of a column, a plane, or a lane of one. */
const FIVE = [0, 1, 2, 3, 4] as const;

/** Argument of `permute`: all of the result is needed. */
const WHOLE = 8 * ROUNDS;
/** The first plane of the result is needed, as for a digest, so the last round computes no other. */
const FIRST_PLANE = 8 * (ROUNDS - 2);

/**
 * Keccak-f[1600] on the state in memory, with the lanes of COMPLEMENTS complemented. A machine has 16 registers for 25
 * lanes, and left to itself V8 moves lanes to the machine stack and back all the time, since it puts no computation before
 * its result is needed. Stores stay in their order: planes that are stored as they come leave the next ones enough registers.
 *
 * Parities are computed where a block of control flow ends. Only there does V8 make one instruction of a load and its XOR:
 * with a store after them in the block it takes two.
 *
 * permute(result): WHOLE or FIRST_PLANE.
 */
function definePermutation(module: ModuleBuilder): FunctionRef {
  return module.define(["i32"], [], (f, result) => {
    const round = f.i32(0);
    const constant = (offset: number) => i64.load(round, KECCAK_ROUND_CONSTANTS + offset);
    const parities = FIVE.map((x) => f.i64(parityOf(KECCAK_STATE, x)));
    const setParities = (state: number) => {
      for (const x of FIVE) f.set(parities[x]!, parityOf(state, x));
    };
    f.block((done) =>
      f.loop((again) => {
        emitPlanes(f, KECCAK_STATE, KECCAK_NEXT_STATE, parities, constant(0));
        setParities(KECCAK_NEXT_STATE);
        f.if(i32.eq(round, result!), () => {
          emitPlanes(f, KECCAK_NEXT_STATE, KECCAK_STATE, parities, constant(8), 1);
          f.return();
        });
        emitPlanes(f, KECCAK_NEXT_STATE, KECCAK_STATE, parities, constant(8));
        f.set(round, i32.add(round, 16));
        f.brIf(done, i32.geU(round, 8 * ROUNDS));
        setParities(KECCAK_STATE);
        f.br(again);
      }),
    );
  });
}

/** The XOR of the lanes of column `x`. */
function parityOf(state: number, x: number): Code {
  const lane = (y: number) => i64.load(state, 8 * (x + 5 * y));
  return [1, 2, 3, 4].reduce((sum, y) => i64.xor(sum, lane(y)), lane(0));
}

/** The planes of the next state, or the first `planes` of them. */
function emitPlanes(
  f: FunctionBuilder,
  from: number,
  to: number,
  parities: readonly Operand[],
  constant: Operand,
  planes = 5,
): void {
  f.scope(() => {
    const lanes = Array.from({ length: 25 }, (_, i) => ({
      value: i64.load(from, 8 * i),
      isComplement: COMPLEMENTS.has(i),
    }));
    const effects = theta(f, parities);
    for (let y = 0; y < planes; y++) {
      f.scope(() => {
        const plane = chi(rhoAndPi(f, lanes, effects, y), y);
        plane.forEach((lane, x) => {
          const value = x === 0 && y === 0 ? i64.xor(lane, constant) : lane;
          f.do(i64.store(to, value, 8 * (x + 5 * y)));
        });
      });
    }
  });
}

function not(value: Operand): Operand {
  return i64.xor(value, -1n);
}

function xor(a: Lane, b: Lane): Lane {
  return { value: i64.xor(a.value, b.value), isComplement: a.isComplement !== b.isComplement };
}

/** What step θ adds to each lane of a column. */
function theta(f: FunctionBuilder, values: readonly Operand[]): Lane[] {
  const parities = values.map((value, x) => ({ value, isComplement: isParityComplement(x) }));
  return FIVE.map((x): Lane => {
    const { value, isComplement } = parities[(x + 1) % 5]!;
    const effect = xor(parities[(x + 4) % 5]!, { value: i64.rotl(value, 1n), isComplement });
    return { value: f.i64(effect.value), isComplement: effect.isComplement };
  });
}

function isParityComplement(x: number): boolean {
  return FIVE.filter((y) => COMPLEMENTS.has(x + 5 * y)).length % 2 === 1;
}

/** Plane `y` after steps θ, ρ and π: its lane x comes from column x + 3y of row x. */
function rhoAndPi(
  f: FunctionBuilder,
  lanes: readonly Lane[],
  effects: readonly Lane[],
  y: number,
): Lane[] {
  return FIVE.map((x) => {
    const column = (x + 3 * y) % 5;
    const { value, isComplement } = xor(lanes[column + 5 * x]!, effects[column]!);
    const rotation = BigInt(ROTATIONS[column + 5 * x]!);
    return { value: f.i64(rotation === 0n ? value : i64.rotl(value, rotation)), isComplement };
  });
}

/** a ⊕ (¬b ∧ c) for each lane of plane `y` and its two neighbours to the right, by whichever form needs the fewest NOTs. */
function chi(plane: readonly Lane[], y: number): Operand[] {
  return plane.map((a, x) => {
    const b = plane[(x + 1) % 5]!;
    const c = plane[(x + 2) % 5]!;
    // Whether the term must come out complemented for the result to be held as the next round wants it.
    const wantsComplement = a.isComplement !== COMPLEMENTS.has(x + 5 * y);
    if (b.isComplement === c.isComplement) {
      const [plain, negated] = b.isComplement === wantsComplement ? [c, b] : [b, c];
      const term = (wantsComplement ? i64.or : i64.and)(plain.value, not(negated.value));
      return i64.xor(a.value, term);
    }
    // ¬b ∧ c is available, or its complement b ∨ ¬c; that of a is often needed for a neighbour too.
    const term = (b.isComplement ? i64.and : i64.or)(b.value, c.value);
    return i64.xor(wantsComplement === b.isComplement ? not(a.value) : a.value, term);
  });
}
