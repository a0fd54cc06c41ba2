import { type Code, i32, i64, type Local, type Operand, v128 } from "../wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../wasm/function.ts";
import type { ModuleBuilder } from "../wasm/module.ts";
import { COMPLEMENTS, definePermutation, FIRST_PLANE, type KeccakLayout, not, WHOLE } from "./keccak-permutation.ts";

/** Bytes absorbed by one permutation of Keccak-256: 1600 − 2·256 bits. */
export const RATE = 136;
const LANES = 25;
const LANE = 8;

/** Emits the building blocks of functions that hash with Keccak-256. */
export class KeccakEmitter {
  readonly #layout: KeccakLayout;
  readonly #permute: FunctionRef;

  constructor(module: ModuleBuilder, layout: KeccakLayout) {
    this.#layout = layout;
    this.#permute = definePermutation(module, layout);
  }

  /** Begins a message. Also overwrites the eight bytes after the state. */
  reset(f: FunctionBuilder): void {
    const { state } = this.#layout;
    // Inline stores: a fill is a call into the runtime.
    for (let at = 0; at < LANES * LANE; at += 16) f.do(v128.store(state, v128.zero, at));
    for (const lane of COMPLEMENTS) f.do(i64.store(state, -1n, LANE * lane));
  }

  /** Absorbs whole blocks; leaves the start of the rest in `bytes` and its length in `size`. */
  absorbBlocks(f: FunctionBuilder, bytes: Local, size: Local): void {
    f.block((done) =>
      f.loop((again) => {
        f.brIf(done, i32.ltU(size, RATE));
        for (let at = 0; at < RATE; at += LANE) this.#absorb(f, at, i64.load(bytes, at));
        f.do(call(this.#permute, WHOLE));
        f.set(bytes, i32.add(bytes, RATE));
        f.set(size, i32.sub(size, RATE));
        f.br(again);
      }),
    );
  }

  /** Absorbs the last `size` bytes, fewer than a block, and the padding. */
  absorbLast(f: FunctionBuilder, bytes: Local, size: Local): void {
    const at = f.i32(this.#layout.state);
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
    this.#absorb(f, RATE - LANE, i64.of(1n << 63n));
    f.do(call(this.#permute, FIRST_PLANE));
  }

  /** The four lanes of the digest, after `absorbLast`. */
  digest(): Code[] {
    return [0, 1, 2, 3].map((i) => {
      const lane = i64.load(this.#layout.state, LANE * i);
      return COMPLEMENTS.has(i) ? not(lane) : lane;
    });
  }

  #absorb(f: FunctionBuilder, offset: number, lane: Operand): void {
    const { state } = this.#layout;
    f.do(i64.store(state, i64.xor(i64.load(state, offset), lane), offset));
  }
}
