import { LOG_BYTE_GAS, SSTORE_SENTRY_GAS } from "../../../../base/params/gas.ts";
import { i32, i64, type Local } from "../../../../base/wasm/code.ts";
import { call } from "../../../../base/wasm/function.ts";
import { haltCode } from "../../halts.ts";
import { frame, globals, record, TRANSIENT, WORD } from "../../memory/layout.ts";
import type { Loop } from "../loop.ts";
import { slotRecord } from "../runtime/storage.ts";
import { copyWord, limb, storeSmall, storeZero } from "../words.ts";
import type { Emitter, Emitters } from "./emitter.ts";

/** The account named by the operand on top, after its access is charged. */
function loadAccount(loop: Loop): Local {
  const { f, sp, runtime } = loop;
  const account = f.i32(call(runtime.access.account, sp));
  loop.setGas(call(runtime.access.touchAccount, loop.gas, account));
  return account;
}

const balance: Emitter = (loop) => {
  const account = loadAccount(loop);
  loop.charged();
  copyWord(loop.f, loop.sp, account, 0, record.value);
  loop.nextSegment();
};

const extcodesize: Emitter = (loop) => {
  const account = loadAccount(loop);
  loop.charged();
  storeSmall(loop.f, loop.sp, i64.load32(account, record.codeSize));
  loop.nextSegment();
};

/** EIP-1052: 0 for an account that is not there or empty */
const extcodehash: Emitter = (loop) => {
  const { f, sp, runtime } = loop;
  const account = loadAccount(loop);
  loop.charged();
  f.if(
    call(runtime.journal.isEmpty, account),
    () => storeZero(f, sp),
    () => copyWord(f, sp, account, 0, record.original),
  );
  loop.nextSegment();
};

const extcodecopy: Emitter = (loop) => {
  const { f, sp, runtime } = loop;
  loop.setGas(call(runtime.copies.copyGas, loop.gas, loop.operand(1), loop.operand(3)));
  loop.reloadMemorySize();
  const account = loadAccount(loop);
  loop.charged();
  const target = i32.add(loop.memory, i32.load(sp, WORD));
  f.if(i32.load(sp, 3 * WORD), () =>
    f.do(call(runtime.imports.extCodeCopy, account, target, loop.operand(2), i32.load(sp, 3 * WORD))),
  );
  loop.drop(4);
  loop.nextSegment();
};

const sload: Emitter = (loop) => {
  const { f, sp, runtime } = loop;
  const slot = f.i32(slotRecord(runtime.journal, sp));
  loop.setGas(call(runtime.access.touchSlot, loop.gas, slot));
  loop.charged();
  copyWord(f, sp, slot, 0, record.value);
  loop.nextSegment();
};

/** In a static frame SSTORE fails as geth's does: while its gas is worked out. */
const sstore: Emitter = (loop) => {
  const { f, sp, runtime } = loop;
  loop.haltIf(i32.load(frame.isStatic), haltCode.outOfGasWriteProtection);
  if (runtime.rules.sstore === "eip2200") {
    // Checked before the access: with no more gas than a stipend nothing is read.
    const total = i64.add(loop.gas, i64.load(globals.reserve));
    loop.haltIf(i64.leU(total, SSTORE_SENTRY_GAS), haltCode.outOfGasSentry);
  }
  const slot = f.i32(slotRecord(runtime.journal, sp));
  loop.setGas(call(runtime.access.touchWrittenSlot, loop.gas, slot));
  loop.setGas(call(runtime.storage.sstoreGas, loop.gas, slot, loop.operand(1)));
  loop.charged();
  f.do(call(runtime.storage.write, slot, loop.operand(1)));
  loop.drop(2);
  loop.nextSegment();
};

/** EIP-1153 */
const tload: Emitter = (loop) => {
  const slot = loop.f.i32(slotRecord(loop.runtime.journal, loop.sp, TRANSIENT));
  copyWord(loop.f, loop.sp, slot, 0, record.value);
  loop.nextSegment();
};

const tstore: Emitter = (loop) => {
  const { f, sp, runtime } = loop;
  loop.haltIf(i32.load(frame.isStatic), haltCode.writeProtection);
  const slot = slotRecord(runtime.journal, sp, TRANSIENT);
  f.do(call(runtime.storage.write, slot, loop.operand(1)));
  loop.drop(2);
  loop.nextSegment();
};

const log: Emitter = (loop, { pops, gas }) => {
  const { f, sp, runtime } = loop;
  loop.expandTo(loop.operand(0), loop.operand(1));
  const dataCost = i64.mul(limb(sp, 0, WORD), LOG_BYTE_GAS);
  loop.charge(loop.build === "fast" ? dataCost : i64.add(dataCost, BigInt(gas)));
  loop.charged();
  loop.haltIf(i32.load(frame.isStatic), haltCode.writeProtection);
  const data = i32.add(loop.memory, i32.load(sp));
  f.do(call(runtime.appendLog, pops - 2, loop.operand(2), data, i32.load(sp, WORD)));
  loop.drop(pops);
  loop.nextSegment();
};

export const STATE: Emitters = {
  BALANCE: balance,
  EXTCODESIZE: extcodesize,
  EXTCODEHASH: extcodehash,
  EXTCODECOPY: extcodecopy,
  SLOAD: sload,
  SSTORE: sstore,
  TLOAD: tload,
  TSTORE: tstore,
  LOG: log,
};
