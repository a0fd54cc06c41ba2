import { i32, i64, type Local, type Operand, v128 } from "../../../../../base/wasm/code.ts";
import { call } from "../../../../../base/wasm/function.ts";
import { ADDRESS_KEY, frame, globals, WORD } from "../../../memory/layout.ts";
import { reverseBytes, ZERO_HALF } from "../../words.ts";
import type { FourLimbs } from "../limbs.ts";
import { anyBits, folded, knownValue } from "../limbs.ts";
import type { Word } from "../operand-stack.ts";
import type { PathState } from "./operands.ts";
import { hold, type Inline } from "./operands.ts";

/** Bytes at an address in linear memory, plus a known offset. */
type Place = { readonly address: Local; readonly offset: number };

/** Beyond it an access costs more than any gas; such are emitted on the stack. */
const KNOWN_OFFSET_MAX = 1n << 31n;

/** Charges for `size` bytes of memory at the offset in `word`, and provides them. */
function memoryAt(path: PathState, word: Word, size: number): Place {
  const { f, loop, runtime } = path.part;
  const known = knownValue(word.limbs);
  const expandTo = (low: Operand, high: Operand, bytes: number) => {
    const { expandTo } = runtime.gas;
    loop.setGas(call(expandTo, loop.gas, BigInt(path.unpaidGas), low, high, BigInt(bytes)));
    loop.reloadMemorySize();
  };
  if (known !== undefined) {
    const end = Number(known) + size;
    if (end > path.memorySize) {
      f.if(i64.gtU(BigInt(end), loop.memorySize), () => expandTo(known, 0n, size));
      path.memorySize = Math.ceil(end / WORD) * WORD;
    }
    return { address: loop.memory, offset: Number(known) };
  }
  const [low, ...limbs] = path.stack.limbs(word);
  const high = anyBits(limbs);
  const end = i64.add(low!, BigInt(size));
  // An offset of more than 32 bits ends beyond the memory, or wraps.
  const isBeyond = i64.gtU(end, loop.memorySize);
  const isFar = anyBits([folded.shrU(low!, 32), ...limbs]);
  f.if(isFar === 0n ? isBeyond : i32.or(isBeyond, i64.ne(isFar, 0n)), () => expandTo(low!, high, size));
  path.memorySize = Math.max(path.memorySize, Math.ceil(size / WORD) * WORD);
  return { address: f.i32(i32.add(loop.memory, i32.wrap(low!))), offset: 0 };
}

/** An access at a known offset so far away that the frame halts. */
function isFar(path: PathState): boolean {
  const known = knownValue(path.stack.peek().limbs);
  return known !== undefined && known > KNOWN_OFFSET_MAX;
}

function pushBytes(path: PathState, { address, offset }: Place): void {
  const { f } = path.part;
  const high = f.v128(reverseBytes(v128.load(address, offset)));
  const low = f.v128(reverseBytes(v128.load(address, offset + 16)));
  path.stack.push([
    hold(path, v128.lane(low, 0)),
    hold(path, v128.lane(low, 1)),
    hold(path, v128.lane(high, 0)),
    hold(path, v128.lane(high, 1)),
  ]);
}

function storeBytes(path: PathState, { address, offset }: Place, limbs: FourLimbs): void {
  const { f } = path.part;
  for (const low of [0, 2] as const) {
    const at = offset + (low === 0 ? 16 : 0);
    const [first, second] = [limbs[low], limbs[low + 1]!];
    if (first === 0n && second === 0n) f.do(v128.store(address, ZERO_HALF, at));
    else if (typeof first === "bigint" && typeof second === "bigint") {
      f.do(i64.store(address, reversed(second), at), i64.store(address, reversed(first), at + 8));
    } else f.do(v128.store(address, reverseBytes(v128.pair(first, second)), at));
  }
}

function reversed(value: bigint): bigint {
  return Buffer.from(value.toString(16).padStart(16, "0"), "hex").readBigUInt64LE();
}

const mload: Inline = (path) => {
  if (isFar(path)) return false;
  const { stack } = path;
  const offset = stack.pop();
  path.part.f.scope(() => pushBytes(path, memoryAt(path, offset, WORD)));
  stack.release(offset);
  return true;
};

const mstore: Inline = (path) => {
  if (isFar(path)) return false;
  const { stack } = path;
  const offset = stack.pop();
  const word = stack.pop();
  path.part.f.scope(() => storeBytes(path, memoryAt(path, offset, WORD), stack.limbs(word)));
  stack.release(offset);
  stack.release(word);
  return true;
};

const mstore8: Inline = (path) => {
  if (isFar(path)) return false;
  const { stack, part } = path;
  const offset = stack.pop();
  const word = stack.pop();
  part.f.scope(() => {
    const place = memoryAt(path, offset, 1);
    part.f.do(i64.store8(place.address, stack.limb(word, 0), place.offset));
  });
  stack.release(offset);
  stack.release(word);
  return true;
};

/** Where input that ends inside a word is copied, followed by zeros. */
const PADDED = ADDRESS_KEY + WORD;

const calldataload: Inline = (path) => {
  const { stack, part } = path;
  const { f, runtime } = part;
  const offset = stack.pop();
  const limbs = stack.limbs(offset);
  f.scope(() => {
    const [low, ...high] = limbs;
    const highBits = anyBits(high);
    const size = f.i64(i64.load32(frame.inputSize));
    const inside = i32.and(i64.leU(low!, size), i64.leU(i64.add(low!, BigInt(WORD)), size));
    const from = f.i32(PADDED);
    stack.clearAbove(1);
    f.if(
      highBits === 0n ? inside : i32.and(i64.eqz(highBits), inside),
      () => f.set(from, i32.add(i32.load(frame.input), i32.wrap(low!))),
      () => {
        const { copyPadded } = runtime.copies;
        const word = stack.writeAbove(limbs);
        f.do(call(copyPadded, PADDED, i32.load(frame.input), i32.load(frame.inputSize), word, WORD));
      },
    );
    pushBytes(path, { address: from, offset: 0 });
  });
  stack.release(offset);
  return true;
};

const gas: Inline = (path) => {
  const { loop } = path.part;
  const left = i64.add(i64.sub(loop.gas, BigInt(path.unpaidGas)), i64.load(globals.reserve));
  path.stack.push([hold(path, left), 0n, 0n, 0n]);
  return true;
};

const msize: Inline = (path) => {
  path.stack.push([hold(path, i64.add(path.part.loop.memorySize, 0n)), 0n, 0n, 0n]);
  return true;
};

export const MEMORY: Readonly<Record<string, Inline>> = {
  MLOAD: mload,
  MSTORE: mstore,
  MSTORE8: mstore8,
  MSIZE: msize,
  CALLDATALOAD: calldataload,
  GAS: gas,
};
