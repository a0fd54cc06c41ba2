import { i32, i64, type Local, type Operand } from "../wasm/code.ts";
import { compileModule } from "../wasm/compile.ts";
import type { FunctionBuilder } from "../wasm/function.ts";
import { ModuleBuilder } from "../wasm/module.ts";
import { type Checkpoint, noCheckpoint } from "./checkpoint.ts";

/**
 * The compression function F of BLAKE2b with a variable number of rounds (RFC 7693, section 3.2; EIP-152), as emitted WebAssembly: JavaScript
 * has no fast 64-bit integers, and a caller may buy millions of rounds. bench/micro/precompiles.ts measures rounds per second.
 *
 *     linear memory   0 state v, 16 words · 128 message m, 16 words
 */
const MESSAGE_OFFSET = 128;
const STATE_WORDS = 16;

/**
 * V8 replaces baseline by optimised code only between calls, so a long run is split. A multiple of ten, because the message schedule repeats
 * after ten rounds.
 */
const ROUNDS_PER_CALL = 20_000;

/** Index of the message word for each step, by round (RFC 7693, section 2.7). */
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
  const module = new ModuleBuilder();
  module.export("mix", module.define(["i32"], [], defineMix));
  const { exports } = new WebAssembly.Instance(compileModule(module.bytes()), { host: { memory } });
  return { memory: new Uint8Array(memory.buffer), mix: exports.mix as Core["mix"] };
}

/** mix(rounds): the state stays in variables until no rounds are left. */
function defineMix(f: FunctionBuilder, rounds: Local): void {
  const state = Array.from({ length: STATE_WORDS }, (_, i) => f.i64(i64.load(0, 8 * i)));
  const add = (to: number, ...values: readonly Operand[]) =>
    f.set(
      state[to]!,
      values.reduce((sum, value) => i64.add(sum, value), state[to]!),
    );
  const xorRotate = (to: number, from: number, bits: number) =>
    f.set(state[to]!, i64.rotl(i64.xor(state[to]!, state[from]!), BigInt(64 - bits)));
  f.block((end) =>
    f.loop((again) => {
      for (const sigma of SIGMA) {
        const word = (step: number) => i64.load(0, MESSAGE_OFFSET + 8 * sigma[step]!);
        f.brIf(end, i32.eqz(rounds));
        f.set(rounds, i32.sub(rounds, 1));
        for (const [i, [a, b, c, d]] of MIXED_WORDS.entries()) {
          add(a, state[b]!, word(2 * i));
          xorRotate(d, a, 32);
          add(c, state[d]!);
          xorRotate(b, c, 24);
          add(a, state[b]!, word(2 * i + 1));
          xorRotate(d, a, 16);
          add(c, state[d]!);
          xorRotate(b, c, 63);
        }
      }
      f.br(again);
    }),
  );
  f.do(...state.map((word, i) => i64.store(0, word, 8 * i)));
}
