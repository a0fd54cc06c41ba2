import { i32, i64 } from "../wasm/code.ts";
import { compileModule } from "../wasm/compile.ts";
import { ModuleBuilder } from "../wasm/module.ts";
import type { Hash } from "./hash.ts";
import { type Hex, type Sliceable, writeHex } from "./hex.ts";
import { KeccakEmitter, RATE } from "./keccak-emitter.ts";
import { COMPLEMENTS, roundConstants } from "./keccak-permutation.ts";

/**
 * Keccak-256 as a WebAssembly module: 64-bit lanes are native there, and BigInt or pairs of numbers are ten times slower.
 *
 *     0    state
 *     208  digest, 32 bytes
 *     256  round constants
 *     448  state after every other round
 *     656  message
 */
const LAYOUT = { state: 0, nextState: 448, constants: 256 };
const DIGEST_OFFSET = 208;
const DIGEST_LENGTH = 32;
const MESSAGE_OFFSET = 656;

type KeccakModule = {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Absorbs `count` whole blocks that begin at `offset`. */
  absorb(offset: number, count: number): void;
  /** Absorbs the last `length` bytes, pads, and leaves the digest at 208. */
  finish(offset: number, length: number): void;
};

/** @param pages of 64 KiB that the memory has */
function createKeccakModule(module: WebAssembly.Module, pages: number): KeccakModule {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(roundConstants(), LAYOUT.constants);
  for (const lane of COMPLEMENTS) bytes.fill(0xff, 8 * lane, 8 * lane + 8);
  const { exports } = new WebAssembly.Instance(module, { host: { memory } });
  return { memory, ...(exports as Pick<KeccakModule, "absorb" | "finish">) };
}

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  const keccak = new KeccakEmitter(module, LAYOUT);
  const absorb = module.define(["i32", "i32"], [], (f, offset, count) => {
    keccak.absorbBlocks(f, offset!, f.i32(i32.mul(count!, RATE)));
  });
  const finish = module.define(["i32", "i32"], [], (f, offset, length) => {
    keccak.absorbBlocks(f, offset!, length!);
    keccak.absorbLast(f, offset!, length!);
    keccak.digest().forEach((lane, i) => {
      f.do(i64.store(DIGEST_OFFSET, lane, 8 * i));
    });
    keccak.reset(f);
  });
  module.export("absorb", absorb);
  module.export("finish", finish);
  return module.bytes();
}

const PAGES = 2;
const module = compileModule(moduleBytes());
const { memory, absorb, finish } = createKeccakModule(module, PAGES);
const digestBytes = new Uint8Array(memory.buffer, DIGEST_OFFSET, DIGEST_LENGTH);
const digestBuffer = Buffer.from(memory.buffer, DIGEST_OFFSET, DIGEST_LENGTH) as unknown as Sliceable;

/** Whole blocks that fit before the padding. */
const BLOCKS_MAX = Math.floor((memory.buffer.byteLength - MESSAGE_OFFSET) / RATE) - 1;

/**
 * Buffer for a message that `keccak256Message` hashes in place, 127 KiB long. Every function of this file overwrites it: use it at once, without
 * other calls in between.
 */
export const keccakMessage: Uint8Array = new Uint8Array(memory.buffer, MESSAGE_OFFSET, BLOCKS_MAX * RATE);

/** Writes Keccak-256 of the first `length` bytes of `keccakMessage` to `out` from `offset` on. */
export function keccak256Message(length: number, out: Uint8Array, offset: number): void {
  finish(MESSAGE_OFFSET, length);
  for (let i = 0; i < DIGEST_LENGTH; i++) out[offset + i] = digestBytes[i]!;
}

/** Keccak-256 (Yellow Paper, appendix B; not the standardised SHA3-256): 32 bytes. */
export function keccak256(data: Uint8Array): Uint8Array {
  digest(data);
  return digestBytes.slice();
}

export function keccak256Hash(data: Uint8Array): Hash {
  digest(data);
  return `0x${digestBuffer.hexSlice(0, DIGEST_LENGTH)}` as Hash;
}

/**
 * Keccak-256 of the bytes that `text` encodes; for an address or hash, its trie key. `text` must be well-formed and short. Not cached: a hit in
 * a Map of 100,000 saves 0.3 us of 0.65, and filling it costs more than that.
 */
export function keccak256OfHex(text: Hex): Uint8Array {
  finish(MESSAGE_OFFSET, writeHex(text, keccakMessage, 0));
  return digestBytes.slice();
}

/** `keccak256` in steps of 127 KiB, about 1 ms each, between which other messages can be hashed. */
export function* keccak256InSteps(data: Uint8Array): Generator<undefined, Uint8Array> {
  if (data.length <= keccakMessage.length) return keccak256(data);
  const own = createKeccakModule(module, PAGES);
  const message = new Uint8Array(own.memory.buffer, MESSAGE_OFFSET, BLOCKS_MAX * RATE);
  let start = 0;
  for (; data.length - start > message.length; start += message.length) {
    message.set(data.subarray(start, start + message.length));
    own.absorb(MESSAGE_OFFSET, BLOCKS_MAX);
    yield;
  }
  message.set(data.subarray(start));
  own.finish(MESSAGE_OFFSET, data.length - start);
  return new Uint8Array(own.memory.buffer, DIGEST_OFFSET, DIGEST_LENGTH).slice();
}

/** Leaves the digest in `digestBytes`. */
function digest(data: Uint8Array): void {
  let start = 0;
  while (data.length - start > keccakMessage.length) {
    keccakMessage.set(data.subarray(start, start + keccakMessage.length));
    absorb(MESSAGE_OFFSET, BLOCKS_MAX);
    start += keccakMessage.length;
  }
  keccakMessage.set(start === 0 ? data : data.subarray(start));
  finish(MESSAGE_OFFSET, data.length - start);
}
