import { compileModule } from "../../wasm/compile.ts";
import type { ModuleBuilder } from "../../wasm/module.ts";
import { type FieldShape, fieldShape, LIMB_BITS, limbsOf } from "./shape.ts";

const MASK = (1 << LIMB_BITS) - 1;
const PAGE = 0x10000;
/** Elements that `fieldMemory` needs at `constants`. */
const CONSTANTS = 3;

/** Elements of a prime field in linear memory as seen from outside: as big-endian bytes, not in Montgomery form. */
export type FieldMemory = {
  /** Stores the integer of `byteLength` bytes at `offset` of `bytes`, below p, as an element at `address`. */
  read(address: number, bytes: Uint8Array, offset: number): void;
  /** Writes the element at `address` to `bytes` at `offset`. */
  write(address: number, bytes: Uint8Array, offset: number): void;
  /** Stores `value`, below p. */
  set(address: number, value: bigint): void;
};

/** Functions of an instance by name; all take addresses. */
export type FieldExports = Readonly<Record<string, (...addresses: number[]) => number>>;

/** The memory of a module over a prime field: callers first reserve space, then instantiate the module with it. */
export class FieldSpace {
  readonly shape: FieldShape;
  readonly #constants: number;
  #top = 0;

  constructor(modulus: bigint) {
    this.shape = fieldShape(modulus);
    this.#constants = this.reserve(CONSTANTS);
  }

  reserve(elements: number): number {
    const address = this.#top;
    this.#top += elements * this.shape.size;
    return address;
  }

  /** Address of the next elements. */
  get end(): number {
    return this.#top;
  }

  /**
   * @param module exports `mul` and `reduce` of the field
   * @param byteLength bytes of an encoded element, a multiple of 4
   */
  instantiate(module: ModuleBuilder, byteLength: number) {
    const memory = new WebAssembly.Memory({ initial: Math.ceil(this.#top / PAGE) });
    const imports = { host: { memory } };
    const instance = new WebAssembly.Instance(compileModule(module.bytes()), imports);
    const wasm = instance.exports as FieldExports;
    const field = fieldMemory(this.shape, byteLength, memory, this.#constants, {
      mul: wasm["mul"]!,
      reduce: wasm["reduce"]!,
    });
    return { wasm, field, bytes: new Uint8Array(memory.buffer) };
  }
}

/**
 * @param byteLength bytes of an encoded element, a multiple of 4
 * @param constants address of CONSTANTS elements
 */
function fieldMemory(
  shape: FieldShape,
  byteLength: number,
  memory: WebAssembly.Memory,
  constants: number,
  functions: {
    mul(to: number, a: number, b: number): void;
    reduce(to: number, a: number): void;
  },
): FieldMemory {
  const { limbs, size, radix, modulus } = shape;
  const words = new Uint32Array(memory.buffer);
  const scratchWords = new Uint32Array(byteLength / 4 + 2);
  const [radixSquared, unit, scratch] = [constants, constants + size, constants + 2 * size];
  const put = (address: number, value: bigint) =>
    limbsOf(value, limbs).forEach((limb, i) => {
      words[address / 4 + 2 * i] = Number(limb);
    });
  put(radixSquared, (radix * radix) % modulus);
  put(unit, 1n);
  return {
    read(address, bytes, offset) {
      for (let i = 0; i < byteLength / 4; i++) {
        const at = offset + byteLength - 4 * i - 4;
        scratchWords[i] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
      }
      for (let i = 0; i < limbs; i++) {
        const word = (LIMB_BITS * i) >> 5;
        const shift = (LIMB_BITS * i) & 31;
        const low = (scratchWords[word] ?? 0) >>> shift;
        const high = shift > 2 ? (scratchWords[word + 1] ?? 0) << (32 - shift) : 0;
        words[address / 4 + 2 * i] = (low | high) & MASK;
        words[address / 4 + 2 * i + 1] = 0;
      }
      functions.mul(address, address, radixSquared);
    },
    write(address, bytes, offset) {
      functions.mul(scratch, address, unit);
      functions.reduce(scratch, scratch);
      scratchWords.fill(0);
      for (let i = 0; i < limbs; i++) {
        const limb = words[scratch / 4 + 2 * i]!;
        const word = (LIMB_BITS * i) >> 5;
        const shift = (LIMB_BITS * i) & 31;
        if (word < scratchWords.length) scratchWords[word]! |= limb << shift;
        if (shift > 2 && word + 1 < scratchWords.length) {
          scratchWords[word + 1]! |= limb >>> (32 - shift);
        }
      }
      for (let i = 0; i < byteLength; i++) {
        bytes[offset + byteLength - 1 - i] = scratchWords[i >> 2]! >>> (8 * (i & 3));
      }
    },
    set(address, value) {
      put(address, (value * radix) % modulus);
    },
  };
}
