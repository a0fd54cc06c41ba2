import { i32, i64 } from "../wasm/code.ts";
import { compileModule } from "../wasm/compile.ts";
import { ModuleBuilder } from "../wasm/module.ts";
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
export const DIGEST_OFFSET = 208;
export const DIGEST_LENGTH = 32;
export const MESSAGE_OFFSET = 656;

export type KeccakModule = {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Absorbs `count` whole blocks that begin at `offset`. */
  absorb(offset: number, count: number): void;
  /** Absorbs the last `length` bytes, pads, and leaves the digest at 208. */
  finish(offset: number, length: number): void;
};

/** @param pages of 64 KiB that the memory has */
export function createKeccakModule(pages: number): KeccakModule {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(roundConstants(), LAYOUT.constants);
  for (const lane of COMPLEMENTS) bytes.fill(0xff, 8 * lane, 8 * lane + 8);
  const module = compileModule(moduleBytes());
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
