import { invariant } from "../errors.ts";
import type { Secp256k1Backend } from "./secp256k1-backend.ts";
import { readSecp256k1Module } from "./wasm-files.ts";

/** Functions of libsecp256k1 in use. Arguments are pointers; 1 is success. */
type Exports = {
  readonly _malloc: (size: number) => number;
  readonly _secp256k1_context_create: (flags: number) => number;
  readonly _secp256k1_ec_pubkey_create: (context: number, key: number, secret: number) => number;
  readonly _secp256k1_ec_pubkey_serialize: (
    context: number,
    out: number,
    outLength: number,
    key: number,
    flags: number,
  ) => number;
  readonly _secp256k1_ecdsa_recoverable_signature_parse_compact: (
    context: number,
    out: number,
    signature: number,
    recoveryId: number,
  ) => number;
  readonly _secp256k1_ecdsa_recoverable_signature_serialize_compact: (
    context: number,
    out: number,
    recoveryId: number,
    signature: number,
  ) => number;
  readonly _secp256k1_ecdsa_recover: (
    context: number,
    key: number,
    signature: number,
    digest: number,
  ) => number;
  readonly _secp256k1_ecdsa_sign_recoverable: (
    context: number,
    signature: number,
    digest: number,
    secret: number,
  ) => number;
};

/** SECP256K1_CONTEXT_SIGN | SECP256K1_CONTEXT_VERIFY of secp256k1.h. */
const CONTEXT_SIGN_VERIFY = 0x301;
/** SECP256K1_EC_UNCOMPRESSED of secp256k1.h. */
const UNCOMPRESSED = 2;
const PUBLIC_KEY_LENGTH = 65;

/** Memory layout the module was linked for: static data, then the pointer to the heap's end, then 5 MiB of stack. */
const MEMORY_PAGES = 256;
const STATIC_BASE = 1024;
const HEAP_END_POINTER = STATIC_BASE + 67_696 + 16;
const STACK_BASE = (HEAP_END_POINTER + 4 + 15) & -16;
const HEAP_BASE = STACK_BASE + 5 * 2 ** 20;
const TABLE_SIZE = 6;

/**
 * libsecp256k1 as WebAssembly, at about a third of the native speed. The module of @bitauth/libauth is instantiated here and not by
 * the package's own functions: those are asynchronous, and a promise on the import path would rule out `require("evmint")`.
 */
export function loadWasmBackend(): Secp256k1Backend {
  let loaded: Omit<Secp256k1Backend, "name"> | undefined;
  const curve = () => {
    loaded ??= openCurve();
    return loaded;
  };
  return {
    name: "wasm",
    recover: (signature, recoveryId, digest) => curve().recover(signature, recoveryId, digest),
    sign: (digest, privateKey) => curve().sign(digest, privateKey),
    publicKey: (privateKey) => curve().publicKey(privateKey),
  };
}

/** Takes 30 ms, most of them for tables of multiples of the generator. */
function openCurve(): Omit<Secp256k1Backend, "name"> {
  const memory = new WebAssembly.Memory({ initial: MEMORY_PAGES, maximum: MEMORY_PAGES });
  const heap = new Uint8Array(memory.buffer);
  const words = new Uint32Array(memory.buffer);
  words[HEAP_END_POINTER >> 2] = HEAP_BASE;
  const wasm = instantiate(memory, heap);
  const context = wasm._secp256k1_context_create(CONTEXT_SIGN_VERIFY);
  const reserve = (size: number): number => {
    const pointer = wasm._malloc(size);
    invariant(pointer !== 0, "the memory of libsecp256k1 holds its buffers");
    return pointer;
  };
  // Reused by every call: nothing here runs concurrently.
  const digestAt = reserve(32);
  const secretAt = reserve(32);
  const compactAt = reserve(64);
  const signatureAt = reserve(65);
  const keyAt = reserve(64);
  const serializedAt = reserve(PUBLIC_KEY_LENGTH);
  const lengthAt = reserve(4);

  function serializedKey(): Uint8Array {
    words[lengthAt >> 2] = PUBLIC_KEY_LENGTH;
    wasm._secp256k1_ec_pubkey_serialize(context, serializedAt, lengthAt, keyAt, UNCOMPRESSED);
    return heap.slice(serializedAt, serializedAt + PUBLIC_KEY_LENGTH);
  }

  return {
    recover(signature, recoveryId, digest) {
      heap.set(signature, compactAt);
      heap.set(digest, digestAt);
      const isSignature = wasm._secp256k1_ecdsa_recoverable_signature_parse_compact(
        context,
        signatureAt,
        compactAt,
        recoveryId,
      );
      if (isSignature !== 1) return undefined;
      const found = wasm._secp256k1_ecdsa_recover(context, keyAt, signatureAt, digestAt);
      return found === 1 ? serializedKey() : undefined;
    },
    sign(digest, privateKey) {
      heap.set(digest, digestAt);
      heap.set(privateKey, secretAt);
      const signed = wasm._secp256k1_ecdsa_sign_recoverable(
        context,
        signatureAt,
        digestAt,
        secretAt,
      );
      heap.fill(0, secretAt, secretAt + 32);
      invariant(signed === 1, "a valid private key signs every digest");
      wasm._secp256k1_ecdsa_recoverable_signature_serialize_compact(
        context,
        compactAt,
        lengthAt,
        signatureAt,
      );
      return {
        signature: heap.slice(compactAt, compactAt + 64),
        recoveryId: words[lengthAt >> 2]!,
      };
    },
    publicKey(privateKey) {
      heap.set(privateKey, secretAt);
      const made = wasm._secp256k1_ec_pubkey_create(context, keyAt, secretAt);
      heap.fill(0, secretAt, secretAt + 32);
      invariant(made === 1, "a valid private key has a public key");
      return serializedKey();
    },
  };
}

/** The instance on `memory`, with the environment Emscripten expects of its host. */
function instantiate(memory: WebAssembly.Memory, heap: Uint8Array): Exports {
  const abort = () => invariant(false, "libsecp256k1 does not abort");
  const env = {
    memory,
    memoryBase: STATIC_BASE,
    table: new WebAssembly.Table({ element: "anyfunc", initial: TABLE_SIZE, maximum: TABLE_SIZE }),
    tableBase: 0,
    DYNAMICTOP_PTR: HEAP_END_POINTER,
    STACKTOP: STACK_BASE,
    ___setErrNo: (value: number) => value,
    _abort: abort,
    abort,
    abortOnCannotGrowMemory: abort,
    enlargeMemory: abort,
    getTotalMemory: () => memory.buffer.byteLength,
    _emscripten_memcpy_big(to: number, from: number, length: number) {
      heap.copyWithin(to, from, from + length);
      return to;
    },
  };
  const module = new WebAssembly.Module(readSecp256k1Module());
  const imports = { env, global: { Infinity: Number.POSITIVE_INFINITY, NaN: Number.NaN } };
  return new WebAssembly.Instance(module, imports).exports as Exports;
}
