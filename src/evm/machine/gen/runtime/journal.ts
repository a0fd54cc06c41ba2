import { i32, i64, type Local, memory, type Operand } from "../../../../base/wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import {
  flag,
  globals,
  INDEX,
  INDEX_SLOTS_MAX,
  RECORD_SIZE,
  RECORDS_END,
  record,
  UNDO_END,
  UNDO_SIZE,
} from "../../memory/layout.ts";
import { copyWord, equalWords, isZeroWord, limb, loadWord, storeZero } from "../words.ts";

const ALL_ONES = 0xffff_ffff_ffff_ffffn;

export type Journal = {
  /** find(owner, key): the record of an account (owner 0) or a slot; a new one is filled by the host */
  readonly find: FunctionRef;
  /** save(cell): notes the 32 bytes at `cell`, to be put back on a revert */
  readonly save: FunctionRef;
  /** revert(undoTop): puts back everything saved since `globals.undoTop` was that */
  readonly revert: FunctionRef;
  /** mark(record, flags): sets flags that a revert undoes */
  readonly mark: FunctionRef;
  /** addBalance(account, value), subBalance(account, value): `value` is the address of a word. A sum stops at 2^256 - 1. */
  readonly addBalance: FunctionRef;
  readonly subBalance: FunctionRef;
  /** hasBalance(account, value): 1 when it can pay */
  readonly hasBalance: FunctionRef;
  /** hasRoom(account, value): whether the sum stays below 2^256 */
  readonly hasRoom: FunctionRef;
  /** isEmpty(account): EIP-161, no nonce, no balance, no code */
  readonly isEmpty: FunctionRef;
};

type JournalImports = {
  /** load(record): fills a new record; the key and the owner are in it */
  readonly load: FunctionRef;
  /** Throws: a region is full. */
  readonly exhausted: FunctionRef;
};

/**
 * Accounts and slots as records of one open-addressing index, with an undo log of whole cells.
 * `seed` keys the hash function, so callers cannot choose keys that collide. This is one function because the functions that it defines
 * refer to each other by the results of `module.define`.
 */
export function defineJournal(
  module: ModuleBuilder,
  { load, exhausted }: JournalImports,
  seed: readonly [bigint, bigint, bigint, bigint],
): Journal {
  const hash = module.define(["i32", "i32"], ["i32"], (f, owner, key) => {
    const sum = f.i64(
      [0, 1, 2, 3].reduce(
        (total, i) => i64.xor(i64.rotl(total, 23n), i64.mul(limb(key!, i), seed[i]! | 1n)),
        i64.mul(i64.extendU(owner!), 0x9e3779b97f4a7c15n),
      ),
    );
    f.set(sum, i64.mul(i64.xor(sum, i64.shrU(sum, 32n)), 0xd6e8feb86659fd93n));
    f.return(i32.wrap(i64.shrU(sum, 32n)));
  });

  const insert = (f: FunctionBuilder, at: Local, address: Operand) => {
    f.block((free) =>
      f.loop((again) => {
        f.set(at, i32.and(at, i32.load(globals.indexMask)));
        f.brIf(free, i32.eqz(i32.load(i32.shl(at, 2), INDEX)));
        f.set(at, i32.add(at, 1));
        f.br(again);
      }),
    );
    f.do(i32.store(i32.shl(at, 2), address, INDEX));
  };

  /** Doubles the index and puts every record in anew. */
  const grow = module.define(["i32", "i32"], [], (f, first, end) => {
    const slots = f.i32(i32.shl(i32.add(i32.load(globals.indexMask), 1), 1));
    f.if(i32.gtU(slots, INDEX_SLOTS_MAX), () => {
      f.do(call(exhausted));
      f.unreachable();
    });
    f.do(i32.store(globals.indexMask, i32.sub(slots, 1)));
    f.do(memory.fill(INDEX, 0, i32.shl(slots, 2)));
    const at = f.local("i32");
    f.block((done) =>
      f.loop((again) => {
        f.brIf(done, i32.geU(first!, end!));
        f.set(at, call(hash, i32.load(first!, record.owner), first!));
        insert(f, at, first!);
        f.set(first!, i32.add(first!, RECORD_SIZE));
        f.br(again);
      }),
    );
  });

  const find = module.define(["i32", "i32"], ["i32"], (f, owner_, key_) => {
    const owner = owner_!;
    const key = key_!;
    const at = f.i32(call(hash, owner, key));
    const entry = f.local("i32");
    f.block((missing) =>
      f.loop((again) => {
        f.set(at, i32.and(at, i32.load(globals.indexMask)));
        f.set(entry, i32.load(i32.shl(at, 2), INDEX));
        f.brIf(missing, i32.eqz(entry));
        f.if(i32.eq(i32.load(entry, record.owner), owner), () =>
          f.if(equalWords(entry, key), () => f.return(i32.of(entry))),
        );
        f.set(at, i32.add(at, 1));
        f.br(again);
      }),
    );
    f.set(entry, i32.load(globals.recordTop));
    f.if(i32.geU(entry, RECORDS_END), () => {
      f.do(call(exhausted));
      f.unreachable();
    });
    f.do(i32.store(globals.recordTop, i32.add(entry, RECORD_SIZE)));
    copyWord(f, entry, key, record.key);
    storeZero(f, entry, record.value);
    storeZero(f, entry, record.original);
    storeZero(f, entry, record.meta);
    f.do(i32.store(entry, owner, record.owner));
    f.do(i32.store(i32.shl(at, 2), entry, INDEX));
    const count = f.i32(i32.load(globals.recordCount));
    f.set(count, i32.add(count, 1));
    f.do(i32.store(globals.recordCount, count));
    f.if(i32.gtU(i32.shl(count, 1), i32.load(globals.indexMask)), () => {
      const first = i32.sub(i32.add(entry, RECORD_SIZE), i32.mul(count, RECORD_SIZE));
      f.do(call(grow, first, i32.add(entry, RECORD_SIZE)));
    });
    f.do(call(load, entry));
    f.return(i32.of(entry));
  });

  const save = module.define(["i32"], [], (f, cell) => {
    const top = f.i32(i32.load(globals.undoTop));
    f.if(i32.geU(top, UNDO_END - UNDO_SIZE), () => {
      f.do(call(exhausted));
      f.unreachable();
    });
    f.do(i32.store(top, cell!));
    copyWord(f, top, cell!, 16);
    f.do(i32.store(globals.undoTop, i32.add(top, UNDO_SIZE)));
  });

  const revert = module.define(["i32"], [], (f, to) => {
    const top = f.i32(i32.load(globals.undoTop));
    f.block((done) =>
      f.loop((again) => {
        f.brIf(done, i32.leU(top, to!));
        f.set(top, i32.sub(top, UNDO_SIZE));
        copyWord(f, i32.load(top), top, 0, 16);
        f.br(again);
      }),
    );
    f.do(i32.store(globals.undoTop, to!));
  });

  const mark = module.define(["i32", "i32"], [], (f, entry, flags) => {
    const old = f.i32(i32.load(entry!, record.flags));
    f.if(i32.ne(i32.and(old, flags!), flags!), () => {
      f.do(call(save, i32.add(entry!, record.meta)));
      f.do(i32.store(entry!, i32.or(old, flags!), record.flags));
    });
  });

  const changed = flag.dirty | flag.touched | flag.exists;

  const addBalance = module.define(["i32", "i32"], [], (f, account, value) => {
    f.do(call(mark, account!, changed));
    f.do(call(save, i32.add(account!, record.value)));
    const a = loadWord(f, account!, record.value);
    const b = loadWord(f, value!);
    const carry = f.i64(0n);
    a.forEach((limbA, i) => {
      const sum = f.i64(i64.add(limbA, b[i]!));
      const total = f.i64(i64.add(sum, carry));
      f.set(carry, i64.extendU(i32.or(i64.ltU(sum, limbA), i64.ltU(total, sum))));
      f.do(i64.store(account!, total, record.value + 8 * i));
    });
    f.if(i64.ne(carry, 0n), () => {
      for (const i of a.keys()) f.do(i64.store(account!, ALL_ONES, record.value + 8 * i));
    });
  });

  const subBalance = module.define(["i32", "i32"], [], (f, account, value) => {
    f.do(call(mark, account!, changed));
    f.do(call(save, i32.add(account!, record.value)));
    const a = loadWord(f, account!, record.value);
    const b = loadWord(f, value!);
    const borrow = f.i64(0n);
    a.forEach((limbA, i) => {
      const difference = f.i64(i64.sub(limbA, b[i]!));
      const total = f.i64(i64.sub(difference, borrow));
      f.set(borrow, i64.extendU(i32.or(i64.ltU(limbA, b[i]!), i64.ltU(difference, borrow))));
      f.do(i64.store(account!, total, record.value + 8 * i));
    });
  });

  const hasBalance = module.define(["i32", "i32"], ["i32"], (f, account, value) => {
    for (const i of [3, 2, 1, 0]) {
      const have = f.i64(limb(account!, i, record.value));
      const want = f.i64(limb(value!, i));
      f.if(i64.ne(have, want), () => f.return(i64.gtU(have, want)));
    }
    f.return(i32.of(1));
  });

  const hasRoom = module.define(["i32", "i32"], ["i32"], (f, account, value) => {
    for (const i of [3, 2, 1, 0]) {
      const room = f.i64(i64.xor(limb(account!, i, record.value), ALL_ONES));
      const want = f.i64(limb(value!, i));
      f.if(i64.ne(room, want), () => f.return(i64.gtU(room, want)));
    }
    f.return(i32.of(1));
  });

  const isEmpty = module.define(["i32"], ["i32"], (f, account) => {
    const hasCode = i32.load(account!, record.codeSize);
    const hasNonce = i64.ne(i64.load(account!, record.nonce), 0n);
    f.return(i32.and(i32.eqz(i32.or(hasCode, hasNonce)), isZeroWord(account!, record.value)));
  });

  return { find, save, revert, mark, addBalance, subBalance, hasBalance, hasRoom, isEmpty };
}
