import { i32, i64, type Operand } from "../../../../base/wasm/code.ts";
import { call } from "../../../../base/wasm/function.ts";
import { ADDRESS_KEY, BLOB_HASHES, environment, frame, globals, record, WORD } from "../../memory/layout.ts";
import { copyWord, isSmall, limb, storeSmall, storeZero, wordFromBytes } from "../words.ts";
import type { Emitter, Emitters } from "./emitter.ts";

function pushWord(address: Operand, offset = 0): Emitter {
  return (loop) => {
    loop.grow();
    copyWord(loop.f, loop.sp, address, 0, offset);
    loop.next();
  };
}

function pushSmall(value: () => Operand): Emitter {
  return (loop) => {
    loop.grow();
    storeSmall(loop.f, loop.sp, value());
    loop.next();
  };
}

/** Input is read as if zeros followed it. */
const calldataload: Emitter = (loop) => {
  const { f, sp, runtime } = loop;
  const inside = i32.and(
    isSmall(sp),
    i32.and(
      i64.ltU(limb(sp, 0), i64.load32(frame.inputSize)),
      i64.leU(i64.add(limb(sp, 0), 32n), i64.load32(frame.inputSize)),
    ),
  );
  f.if(
    inside,
    () => wordFromBytes(f, sp, i32.add(i32.load(frame.input), i32.load(sp))),
    () => {
      const { copyPadded } = runtime.copies;
      f.do(call(copyPadded, PADDED, i32.load(frame.input), i32.load(frame.inputSize), sp, WORD));
      wordFromBytes(f, sp, PADDED);
    },
  );
  loop.next();
};
const PADDED = ADDRESS_KEY + WORD;

const blockhash: Emitter = (loop) => {
  loop.f.do(call(loop.runtime.imports.blockHash, loop.sp));
  loop.next();
};

const blobhash: Emitter = (loop) => {
  const { f, sp } = loop;
  const known = i32.and(isSmall(sp), i64.ltU(limb(sp, 0), i64.load32(globals.blobHashCount)));
  f.if(
    known,
    // The index is at the address of the hash, and the copy is made in two halves.
    () => copyWord(f, sp, f.i32(i32.shl(i32.load(sp), 5)), 0, BLOB_HASHES),
    () => storeZero(f, sp),
  );
  loop.next();
};

export const ENVIRONMENT: Emitters = {
  ADDRESS: pushWord(i32.load(frame.account), record.key),
  ORIGIN: pushWord(environment.origin),
  CALLER: pushWord(frame.caller),
  CALLVALUE: pushWord(frame.value),
  CALLDATALOAD: calldataload,
  CALLDATASIZE: pushSmall(() => i64.load32(frame.inputSize)),
  CODESIZE: pushSmall(() => i64.load32(frame.codeSize)),
  GASPRICE: pushWord(environment.gasPrice),
  RETURNDATASIZE: pushSmall(() => i64.load32(frame.returnDataSize)),
  BLOCKHASH: blockhash,
  COINBASE: pushWord(environment.coinbase),
  TIMESTAMP: pushWord(environment.timestamp),
  NUMBER: pushWord(environment.number),
  DIFFICULTY: pushWord(environment.difficulty),
  GASLIMIT: pushWord(environment.gasLimit),
  CHAINID: pushWord(environment.chainId),
  SELFBALANCE: pushWord(i32.load(frame.account), record.value),
  BASEFEE: pushWord(environment.baseFee),
  BLOBHASH: blobhash,
  BLOBBASEFEE: pushWord(environment.blobBaseFee),
  SLOTNUM: pushWord(environment.slotNumber),
};
