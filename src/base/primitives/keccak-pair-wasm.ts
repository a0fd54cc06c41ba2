import { type Code, i32, i64, type Local, v128 } from "../wasm/code.ts";
import { compileModule } from "../wasm/compile.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../wasm/function.ts";
import { ModuleBuilder } from "../wasm/module.ts";
import { RATE } from "./keccak-emitter.ts";
import { ROTATIONS, roundConstants } from "./keccak-permutation.ts";

/**
 * Keccak-256 of two messages at once: lane n of both states is one vector of two 64-bit numbers. It takes 0.6 of the time of one message
 * after the other (bench/micro/keccak.ts).
 *
 *     0     states, 25 vectors of 16 bytes
 *     400   states after the round under way
 *     800   round constants, each twice, 24 vectors
 *     1184  last block of each message with its padding, 288 bytes each
 *     2048  messages
 */
const STATE = 0;
const NEXT_STATE = 400;
const CONSTANTS = 800;
const LAST_BLOCKS = 1184;
const LAST_BLOCK_ROOM = 288;
export const PAIR_MESSAGES_OFFSET = 2048;

const ROUNDS = 24;
const VECTOR = 16;
const DIGEST_LANES = 4;
/** Bytes after a message that are read but ignored. */
export const PAIR_READ_AHEAD = 9 * VECTOR;

/**
 * Writes the digest of each message to the 32 bytes before it, and to `out`. Both messages must have the same number of whole blocks; they may
 * be the same message.
 */
export type HashPair = (
  first: number,
  firstLength: number,
  firstOut: number,
  second: number,
  secondLength: number,
  secondOut: number,
) => void;

/** @param pages of 64 KiB that the memory has */
export function createKeccakPairModule(pages: number): {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly hashPair: HashPair;
} {
  const linear = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const bytes = new Uint8Array(linear.buffer);
  const constants = roundConstants();
  for (let round = 0; round < ROUNDS; round++) {
    const constant = constants.subarray(8 * round, 8 * round + 8);
    bytes.set(constant, CONSTANTS + VECTOR * round);
    bytes.set(constant, CONSTANTS + VECTOR * round + 8);
  }
  const module = compileModule(moduleBytes());
  const { exports } = new WebAssembly.Instance(module, { host: { memory: linear } });
  return { bytes, hashPair: (exports as { readonly hashPair: HashPair }).hashPair };
}

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  const permute = definePermutation(module);
  module.export("hashPair", defineHashPair(module, permute));
  return module.bytes();
}

function defineHashPair(module: ModuleBuilder, permute: FunctionRef): FunctionRef {
  const params = ["i32", "i32", "i32", "i32", "i32", "i32"] as const;
  return module.define(params, [], (f, a, aLength, aOut, b, bLength, bOut) => {
    const aHash = f.i32(i32.sub(a!, 32));
    const bHash = f.i32(i32.sub(b!, 32));
    for (let lane = 0; lane < 25; lane++) f.do(v128.store(STATE, v128.zero, VECTOR * lane));
    f.block((done) =>
      f.loop((again) => {
        f.brIf(done, i32.ltU(aLength!, RATE));
        absorb(f, a!, b!);
        f.do(call(permute));
        for (const message of [a!, b!]) f.set(message, i32.add(message, RATE));
        for (const length of [aLength!, bLength!]) f.set(length, i32.sub(length, RATE));
        f.br(again);
      }),
    );
    pad(f, LAST_BLOCKS, a!, aLength!);
    pad(f, LAST_BLOCKS + LAST_BLOCK_ROOM, b!, bLength!);
    absorb(f, i32.of(LAST_BLOCKS), i32.of(LAST_BLOCKS + LAST_BLOCK_ROOM));
    f.do(call(permute));
    for (let lane = 0; lane < DIGEST_LANES; lane++) {
      const both = f.v128(v128.load(STATE, VECTOR * lane));
      for (const out of [aHash, aOut!]) f.do(i64.store(out, v128.lane(both, 0), 8 * lane));
      for (const out of [bHash, bOut!]) f.do(i64.store(out, v128.lane(both, 1), 8 * lane));
    }
  });
}

/** Absorbs the blocks that begin at `a` and `b`. */
function absorb(f: FunctionBuilder, a: Local | Code, b: Local | Code): void {
  for (let lane = 0; lane < RATE / 8; lane++) {
    const both = v128.pair(i64.load(a, 8 * lane), i64.load(b, 8 * lane));
    f.do(v128.store(STATE, v128.xor(v128.load(STATE, VECTOR * lane), both), VECTOR * lane));
  }
}

/** Writes the last `length` bytes of a message to `to`, followed by the padding 0x01 0x00 … 0x80, whose ends can be the same byte. */
function pad(f: FunctionBuilder, to: number, message: Local, length: Local): void {
  const vectors = PAIR_READ_AHEAD / VECTOR;
  for (let n = 0; n < vectors; n++) f.do(v128.store(to, v128.load(message, VECTOR * n), VECTOR * n));
  const end = f.i32(i32.add(length, to));
  for (let n = 0; n < vectors; n++) f.do(v128.store(end, v128.zero, VECTOR * n));
  f.do(i32.store(end, 1));
  const top = i64.load(to, RATE - 8);
  f.do(i64.store(to, i64.or(top, 1n << 63n), RATE - 8));
}

/** Keccak-f[1600] on both states. A loop of two rounds, from one copy of the states to the other and back. */
function definePermutation(module: ModuleBuilder): FunctionRef {
  return module.define([], [], (f) => {
    const round = f.i32(0);
    f.loop((again) => {
      emitRound(f, STATE, NEXT_STATE, v128.load(round, CONSTANTS));
      emitRound(f, NEXT_STATE, STATE, v128.load(round, CONSTANTS + VECTOR));
      f.set(round, i32.add(round, 2 * VECTOR));
      f.brIf(again, i32.ltU(round, VECTOR * ROUNDS));
    });
  });
}

/** theta, rho, pi, chi, iota (FIPS 202, section 3.2), a plane of the result at a time. */
function emitRound(f: FunctionBuilder, from: number, to: number, constant: Code): void {
  f.scope(() => {
    const lanes = Array.from({ length: 25 }, (_, lane) => v128.load(from, VECTOR * lane));
    const columns = [0, 1, 2, 3, 4].map((x) =>
      f.v128([5, 10, 15, 20].reduce((sum, y) => v128.xor(sum, lanes[x + y]!), lanes[x]!)),
    );
    const effects = columns.map((_, x) => f.v128(v128.xor(v128.rotl(columns[(x + 1) % 5]!, 1), columns[(x + 4) % 5]!)));
    for (let y = 0; y < 5; y++) {
      const plane = [0, 1, 2, 3, 4].map((x) => {
        const column = (x + 3 * y) % 5;
        const lane = column + 5 * x;
        const value = f.v128(v128.xor(lanes[lane]!, effects[column]!));
        return lane === 0 ? value : f.v128(v128.rotl(value, ROTATIONS[lane]!));
      });
      plane.forEach((lane, x) => {
        const term = v128.andNot(plane[(x + 2) % 5]!, plane[(x + 1) % 5]!);
        const value = v128.xor(lane, term);
        const isFirst = x + y === 0;
        f.do(v128.store(to, isFirst ? v128.xor(value, constant) : value, VECTOR * (x + 5 * y)));
      });
    }
  });
}
