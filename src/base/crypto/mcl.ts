import { invariant } from "../errors.ts";
import { compileModule } from "../wasm/compile.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { readMclModule } from "./wasm-files.ts";

/**
 * The curve arithmetic of mcl, one WebAssembly instance per curve, called with raw pointers.
 *
 * mcl-wasm's own entry point is not used: it holds one curve per process, starts only asynchronously, and takes 45 ms of the thread for each
 * curve at import. Its module is a base64 literal in one file. Compiled from there, the first curve costs 10 to 25 ms, later ones less, and a
 * node without pairings pays nothing.
 *
 * Elements are stored in linear memory in mcl's own form, 48 bytes per field element for every curve:
 *
 *     Fp     48 bytes                 Fr    32 bytes
 *     Fp2    a, b                     of a + b·i
 *     point  x, y, z                  each an Fp (G1) or an Fp2 (G2)
 */
export type Mcl = {
  readonly module: MclModule;
  /** Bytes of an encoded field element: 32 or 48, big-endian. */
  readonly fieldLength: number;
  /** A pointer to `size` bytes that are never freed. */
  reserve(size: number): number;
  /** Runs `body` with a pointer to `size` bytes that are freed when it returns. */
  borrow<T>(size: number, body: (pointer: number) => T): T;
  /** Stores the field element at `offset` of `bytes` at `pointer`; false, and nothing stored, unless it is below the modulus. */
  readField(pointer: number, bytes: Uint8Array, offset: number): boolean;
  /** Writes the field element at `pointer` to `out` at `offset`. */
  writeField(pointer: number, out: Uint8Array, offset: number): void;
  /** Stores the big-endian integer in 32 bytes at `offset` of `bytes`, modulo the group order, at `pointer`. */
  readScalar(pointer: number, bytes: Uint8Array, offset: number): void;
};

export const FP_SIZE = 48;
export const FP2_SIZE = 2 * FP_SIZE;
export const FR_SIZE = 32;
export const G1_SIZE = 3 * FP_SIZE;
export const G2_SIZE = 3 * FP2_SIZE;
export const GT_SIZE = 12 * FP_SIZE;

/** Functions store their result at the first pointer. Those that test or can fail return a number. */
type MclModule = Readonly<
  Record<UnaryName, (result: number, x: number) => number> &
    Record<BinaryName, (result: number, x: number, y: number) => void> &
    Record<PredicateName, (x: number) => number> &
    Record<VectorName, (result: number, xs: number, ys: number, count: number) => void> &
    Record<BytesName, (x: number, buffer: number, length: number) => number> &
    Record<"mclBnFp_setInt32", (x: number, value: number) => void> &
    Record<"mclBn_verifyOrderG1" | "mclBn_verifyOrderG2", (verify: number) => void> &
    Record<"mclBn_setMapToMode", (mode: number) => number> &
    Record<"mclBn_init", (curve: number, sizes: number) => number> &
    Record<"mclBnFp2_mul" | "mclBnGT_mul", (result: number, x: number, y: number) => void> &
    Record<"mclBnG2_dbl", (result: number, x: number) => void> &
    Record<"mclBnFp_serialize", (buffer: number, length: number, x: number) => number> &
    Record<"malloc", (size: number) => number> &
    Record<"free", (pointer: number) => void> &
    Record<"__wasm_call_ctors", () => void>
>;

type UnaryName =
  | `mclBn${"G1" | "G2"}_${"neg" | "normalize"}`
  | "mclBnFp_neg"
  | "mclBnFp_squareRoot"
  | "mclBnFp_sqr"
  | "mclBnFr_inv"
  | "mclBnFr_neg"
  | "mclBn_finalExp"
  | "mclBnFp_mapToG1"
  | "mclBnFp2_mapToG2";
type BinaryName = `mclBn${"G1" | "G2"}_${"add" | "sub" | "mul"}` | `mclBnFp_${"add" | "mul"}` | "mclBnFr_mul";
type PredicateName = `mclBn${"G1" | "G2"}_${"isZero" | "isValid"}` | "mclBnGT_isOne" | "mclBnFp_isZero";
type VectorName = `mclBn${"G1" | "G2"}_mulVec` | "mclBn_millerLoopVec";
type BytesName = "mclBnFp_setBigEndianMod" | "mclBnFr_setBigEndianMod";

export type MclCurve = {
  /** mcl's number of the curve. */
  readonly id: number;
  /** Modulus of the base field, big-endian, in the length of an element. */
  readonly modulus: Uint8Array;
};

/** mcl's compile-time sizes (field and scalar words), which `mclBn_init` compares with the caller's expectation. */
const COMPILED_SIZES = 46;
const MEMORY_PAGES = 32;
const BUFFER_LENGTH = 64;

let compiled: WebAssembly.Module | undefined;

export function loadMcl({ id, modulus }: MclCurve): Mcl {
  compiled ??= compileModule(readMclModule());
  const memory = new WebAssembly.Memory({ initial: MEMORY_PAGES });
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory } });
  const module = exports as MclModule;
  module.__wasm_call_ctors();
  invariant(module.mclBn_init(id, COMPILED_SIZES) === 0, "mcl knows the curve");
  // Callers check subgroups: which points need it is a rule of each precompile.
  module.mclBn_verifyOrderG1(0);
  module.mclBn_verifyOrderG2(0);

  const fieldLength = modulus.length;
  const buffer = module.malloc(BUFFER_LENGTH);
  let view = new Uint8Array(memory.buffer);
  const heap = () => {
    // Growing the memory detaches earlier views of it.
    if (view.length === 0) view = new Uint8Array(memory.buffer);
    return view;
  };

  return {
    module,
    fieldLength,
    reserve: (size) => allocate(module, size),
    borrow(size, body) {
      const pointer = allocate(module, size);
      try {
        return body(pointer);
      } finally {
        module.free(pointer);
      }
    },
    readField(pointer, bytes, offset) {
      if (!isBelow(bytes, offset, modulus)) return false;
      heap().set(bytes.subarray(offset, offset + fieldLength), buffer);
      module.mclBnFp_setBigEndianMod(pointer, buffer, fieldLength);
      return true;
    },
    writeField(pointer, out, offset) {
      module.mclBnFp_serialize(buffer, BUFFER_LENGTH, pointer);
      const littleEndian = heap();
      for (let i = 0; i < fieldLength; i++) {
        out[offset + i] = littleEndian[buffer + fieldLength - 1 - i]!;
      }
    },
    readScalar(pointer, bytes, offset) {
      heap().set(bytes.subarray(offset, offset + 32), buffer);
      module.mclBnFr_setBigEndianMod(pointer, buffer, 32);
    },
  };
}

/**
 * result = Π of the Miller loops of `count` consecutive pairs of points, `portion` pairs at a time.
 * @param scratch room for an element of GT
 */
export function millerLoops(
  { module }: Mcl,
  result: number,
  scratch: number,
  g1Points: number,
  g2Points: number,
  count: number,
  portion: number,
  checkpoint: Checkpoint,
): void {
  for (let i = 0; i < count; i += portion) {
    checkpoint();
    const [p, q] = [g1Points + i * G1_SIZE, g2Points + i * G2_SIZE];
    module.mclBn_millerLoopVec(i === 0 ? result : scratch, p, q, Math.min(portion, count - i));
    if (i > 0) module.mclBnGT_mul(result, result, scratch);
  }
}

function allocate(module: MclModule, size: number): number {
  const pointer = module.malloc(size);
  invariant(pointer !== 0, "mcl's memory can grow");
  return pointer;
}

/** Whether the big-endian integer of `limit.length` bytes at `offset` of `bytes` is below `limit`. */
export function isBelow(bytes: Uint8Array, offset: number, limit: Uint8Array): boolean {
  for (let i = 0; i < limit.length; i++) {
    const difference = bytes[offset + i]! - limit[i]!;
    if (difference !== 0) return difference < 0;
  }
  return false;
}
