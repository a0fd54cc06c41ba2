import { type Code, i32, i64, type Operand } from "../wasm/code.ts";
import type { FunctionBuilder, FunctionRef } from "../wasm/function.ts";
import type { ModuleBuilder } from "../wasm/module.ts";

const ROUNDS = 24;

/** Addresses in linear memory. */
export type KeccakLayout = {
  /** 25 lanes of 8 bytes, and as many for the state after every other round */
  readonly state: number;
  readonly nextState: number;
  /** Of step ι, 24 of 8 bytes: `roundConstants` */
  readonly constants: number;
};

/** Rotation of lane x + 5y (FIPS 202, 3.2.2). */
export const ROTATIONS: readonly number[] = [
  0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
];

/** The constants of step ι, 8 bytes each, from their shift register (FIPS 202, 3.2.5). */
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

/**
 * A lane that may be stored as the complement of its value. WebAssembly has no and-not, so step χ would need a NOT for each lane; with the right
 * lanes complemented most of them vanish ("lane complementing", Keccak implementation overview 2.2).
 */
type Lane = { readonly value: Operand; readonly isComplement: boolean };

/** The lanes x + 5y that are stored as complements between rounds. */
export const COMPLEMENTS: ReadonlySet<number> = new Set([1, 2, 8, 12, 17, 20]);

/** The index of a column, a plane, or a lane of one. */
const FIVE = [0, 1, 2, 3, 4] as const;

/** Argument of `permute`: computes the whole result. */
export const WHOLE = 8 * ROUNDS;
/** Computes only the first plane of the result, which a digest needs, in the last round. */
export const FIRST_PLANE = 8 * (ROUNDS - 2);

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
export function definePermutation(module: ModuleBuilder, { state, nextState, constants }: KeccakLayout): FunctionRef {
  return module.define(["i32"], [], (f, result) => {
    const round = f.i32(0);
    const constant = (offset: number) => i64.load(round, constants + offset);
    const parities = FIVE.map((x) => f.i64(parityOf(state, x)));
    const setParities = (lanes: number) => {
      for (const x of FIVE) f.set(parities[x]!, parityOf(lanes, x));
    };
    f.block((done) =>
      f.loop((again) => {
        emitPlanes(f, state, nextState, parities, constant(0));
        setParities(nextState);
        f.if(i32.eq(round, result!), () => {
          emitPlanes(f, nextState, state, parities, constant(8), 1);
          f.return();
        });
        emitPlanes(f, nextState, state, parities, constant(8));
        f.set(round, i32.add(round, 16));
        f.brIf(done, i32.geU(round, 8 * ROUNDS));
        setParities(state);
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

export function not(value: Operand): Code {
  return i64.xor(value, -1n);
}

function xor(a: Lane, b: Lane): Lane {
  return { value: i64.xor(a.value, b.value), isComplement: a.isComplement !== b.isComplement };
}

/** The value that step θ adds to each lane of a column. */
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
function rhoAndPi(f: FunctionBuilder, lanes: readonly Lane[], effects: readonly Lane[], y: number): Lane[] {
  return FIVE.map((x) => {
    const column = (x + 3 * y) % 5;
    const { value, isComplement } = xor(lanes[column + 5 * x]!, effects[column]!);
    const rotation = BigInt(ROTATIONS[column + 5 * x]!);
    return { value: f.i64(rotation === 0n ? value : i64.rotl(value, rotation)), isComplement };
  });
}

/** a ⊕ (¬b ∧ c) for each lane of plane `y` and its two neighbours to the right, in the form with the fewest NOTs. */
function chi(plane: readonly Lane[], y: number): Operand[] {
  return plane.map((a, x) => {
    const b = plane[(x + 1) % 5]!;
    const c = plane[(x + 2) % 5]!;
    // Whether the term must be complemented for the result to have the form that the next round expects.
    const wantsComplement = a.isComplement !== COMPLEMENTS.has(x + 5 * y);
    if (b.isComplement === c.isComplement) {
      const [plain, negated] = b.isComplement === wantsComplement ? [c, b] : [b, c];
      const term = (wantsComplement ? i64.or : i64.and)(plain.value, not(negated.value));
      return i64.xor(a.value, term);
    }
    // ¬b ∧ c is available, or its complement b ∨ ¬c; a neighbour often needs a's complement too.
    const term = (b.isComplement ? i64.and : i64.or)(b.value, c.value);
    return i64.xor(wantsComplement === b.isComplement ? not(a.value) : a.value, term);
  });
}
