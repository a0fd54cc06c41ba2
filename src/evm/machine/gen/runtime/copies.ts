import { COPY_WORD_GAS } from "../../../../base/params/gas.ts";
import { KeccakEmitter } from "../../../../base/primitives/keccak-emitter.ts";
import { type Code, i32, i64, memory, v128 } from "../../../../base/wasm/code.ts";
import { call, type FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import {
  HASH_SLOT_SIZE,
  HASH_SLOTS_BITS,
  HASHES,
  KECCAK_NEXT_STATE,
  KECCAK_ROUND_CONSTANTS,
  KECCAK_STATE,
  WORD,
} from "../../memory/layout.ts";
import { copyWord, isSmall, limb, reverseBytes } from "../words.ts";
import type { GasFunctions } from "./gas.ts";

export type CopyFunctions = {
  /** copy(to, from, size): the ranges may overlap */
  readonly copy: FunctionRef;
  /** copyGas(gas, offset, size): for a copy to memory; the arguments are addresses of words */
  readonly copyGas: FunctionRef;
  /** copyPadded(target, source, sourceSize, offset, size): as if zeros followed `source`; `offset` is the address of a word */
  readonly copyPadded: FunctionRef;
};

export function defineCopies(module: ModuleBuilder, gas: GasFunctions): CopyFunctions {
  const copyGas = module.define(["i64", "i32", "i32"], ["i64"], (f, gasLeft, offset, size) => {
    f.set(gasLeft!, call(gas.expand, gasLeft!, call(gas.rangeEnd, offset!, size!)));
    f.if(i64.ltS(gasLeft!, 0n), () => f.return(i64.of(gasLeft!)));
    const words = i64.shrU(i64.add(limb(size!, 0), 31n), 5n);
    f.return(call(gas.charge, gasLeft!, i64.mul(words, COPY_WORD_GAS)));
  });

  const copyPadded = module.define(
    ["i32", "i32", "i32", "i32", "i32"],
    [],
    (f, target, source, sourceSize, offset, size) => {
      const available = f.i32(0);
      f.if(i32.and(isSmall(offset!), i64.ltU(limb(offset!, 0), i64.extendU(sourceSize!))), () => {
        const begin = f.i32(i32.wrap(limb(offset!, 0)));
        f.set(available, i32.sub(sourceSize!, begin));
        f.set(available, i32.select(i32.ltU(size!, available), size!, available));
        f.do(memory.copy(target!, i32.add(source!, begin), available));
      });
      f.do(memory.fill(i32.add(target!, available), 0, i32.sub(size!, available)));
    },
  );

  // A word, what most calls return, goes by itself: to copy a range is a call into the runtime.
  const copy = module.define(["i32", "i32", "i32"], [], (f, to, from, size) => {
    f.if(
      i32.eq(size!, WORD),
      () => {
        const low = f.v128(v128.load(from!));
        const high = f.v128(v128.load(from!, 16));
        f.do(v128.store(to!, low), v128.store(to!, high, 16));
      },
      () => f.do(memory.copy(to!, from!, size!)),
    );
  });

  return { copy, copyGas, copyPadded };
}

/** keccak(bytes, size, target): writes the Keccak-256 hash of memory as a word. */
export function defineKeccak(module: ModuleBuilder): FunctionRef {
  const keccak = new KeccakEmitter(module, {
    state: KECCAK_STATE,
    nextState: KECCAK_NEXT_STATE,
    constants: KECCAK_ROUND_CONSTANTS,
  });
  return module.define(["i32", "i32", "i32"], [], (f, bytes, size, target) => {
    keccak.reset(f);
    keccak.absorbBlocks(f, bytes!, size!);
    keccak.absorbLast(f, bytes!, size!);
    const [a, b, c, d] = keccak.digest();
    f.do(v128.store(target!, reverseBytes(v128.pair(c!, d!))));
    f.do(v128.store(target!, reverseBytes(v128.pair(a!, b!)), 16));
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
