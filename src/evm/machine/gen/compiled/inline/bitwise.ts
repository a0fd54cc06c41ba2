import { i64, type Operand } from "../../../../../base/wasm/code.ts";
import type { FourLimbs } from "../limbs.ts";
import { anyBits, conditions, equal, folded, knownValue, lessThan } from "../limbs.ts";
import type { PathState } from "./operands.ts";
import { binary, comparison, hold, type Inline, pushCondition, unary } from "./operands.ts";

export function shiftLeft(limbs: FourLimbs, bits: number): Operand[] {
  const [by, rest] = [bits >> 6, bits & 63];
  return [0, 1, 2, 3].map((i) => {
    const own = folded.shl(limbs[i - by] ?? 0n, rest);
    return rest === 0 ? own : folded.or(own, folded.shrU(limbs[i - by - 1] ?? 0n, 64 - rest));
  });
}

export function shiftRight(limbs: FourLimbs, bits: number): Operand[] {
  const [by, rest] = [bits >> 6, bits & 63];
  return [0, 1, 2, 3].map((i) => {
    const own = folded.shrU(limbs[i + by] ?? 0n, rest);
    return rest === 0 ? own : folded.or(own, folded.shl(limbs[i + by + 1] ?? 0n, 64 - rest));
  });
}

function shiftRightSigned(path: PathState, limbs: FourLimbs, bits: number): Operand[] {
  const sign = hold(path, i64.shrS(limbs[3], 63n));
  const [by, rest] = [bits >> 6, bits & 63];
  return [0, 1, 2, 3].map((i) => {
    const at = i + by;
    if (at > 3) return sign;
    if (at === 3) return i64.shrS(limbs[3], BigInt(rest));
    const own = folded.shrU(limbs[at]!, rest);
    return rest === 0 ? own : folded.or(own, folded.shl(limbs[at + 1]!, 64 - rest));
  });
}

/** SHL, SHR, SAR by a known number of bits below 256. */
function shift(compute: (path: PathState, limbs: FourLimbs, bits: number) => Operand[]): Inline {
  return (path) => {
    const { stack } = path;
    const bits = knownValue(stack.peek().limbs);
    if (bits === undefined || bits > 255n) return false;
    stack.drop();
    return unary((_, limbs) => compute(path, limbs, Number(bits)))(path);
  };
}

/** BYTE with a known index, counted from the most significant. */
const byte: Inline = (path) => {
  const { stack } = path;
  const index = knownValue(stack.peek().limbs);
  if (index === undefined || index > 31n) return false;
  stack.drop();
  const bits = 8 * (31 - Number(index));
  return unary((_, limbs) => {
    const shifted = folded.shrU(limbs[bits >> 6]!, bits & 63);
    return [folded.and(shifted, 0xffn), 0n, 0n, 0n];
  })(path);
};

const not = unary((_, limbs) => limbs.map((limb) => folded.xor(limb, (1n << 64n) - 1n)));

const isZero: Inline = (path) => {
  const { stack } = path;
  const word = stack.pop();
  const condition = word.flag ? conditions.not(word.flag) : conditions.isZero(anyBits(stack.limbs(word)));
  pushCondition(path, condition);
  stack.release(word);
  return true;
};

function byLimbs(combine: (a: Operand, b: Operand) => Operand): Inline {
  return binary((_, a, b) => a.map((limb, i) => combine(limb, b[i]!)));
}

export const BITWISE: Readonly<Record<string, Inline>> = {
  AND: byLimbs(folded.and),
  OR: byLimbs(folded.or),
  XOR: byLimbs(folded.xor),
  NOT: not,
  BYTE: byte,
  SHL: shift((_, limbs, bits) => shiftLeft(limbs, bits)),
  SHR: shift((_, limbs, bits) => shiftRight(limbs, bits)),
  SAR: shift(shiftRightSigned),
  LT: comparison((a, b) => lessThan(a, b, false)),
  GT: comparison((a, b) => lessThan(b, a, false)),
  SLT: comparison((a, b) => lessThan(a, b, true)),
  SGT: comparison((a, b) => lessThan(b, a, true)),
  EQ: comparison(equal),
  ISZERO: isZero,
};
