/**
 * WebAssembly expressions in infix order: `i64.add(a, i64.mul(b, 3n))`. An expression appends instructions that leave one value; they are those
 * of the specification, section 5.4.
 */
export type Code = (out: number[]) => void;
export type ValueType = "i32" | "i64" | "v128";

/** A parameter or a local variable of the function being built. */
export type Local = { readonly index: number; readonly type: ValueType };

/** A value: an expression, a variable, or a constant. */
export type Operand = Code | Local | number | bigint;

/** Appends instructions that leave `operand` on WebAssembly's stack; `type` is for constants. */
export function pushOperand(out: number[], operand: Operand, type: ValueType): void {
  if (typeof operand === "function") operand(out);
  else if (typeof operand === "object") {
    out.push(0x20);
    pushUnsigned(out, operand.index);
  } else {
    out.push(type === "i64" ? 0x42 : 0x41);
    // A 32-bit constant above 2^31 is encoded as the negative number with the same bits.
    pushSigned(out, type === "i64" ? BigInt.asIntN(64, BigInt(operand)) : Number(operand) | 0);
  }
}

function codeOf(operand: Operand, type: ValueType): Code {
  return typeof operand === "function" ? operand : (out) => pushOperand(out, operand, type);
}

const unary =
  (type: ValueType, opcode: number) =>
  (a: Operand): Code =>
  (out) => {
    pushOperand(out, a, type);
    out.push(opcode);
  };

const binary =
  (type: ValueType, ...opcode: readonly number[]) =>
  (a: Operand, b: Operand): Code =>
  (out) => {
    pushOperand(out, a, type);
    pushOperand(out, b, type);
    out.push(...opcode);
  };

const load =
  (...opcode: readonly number[]) =>
  (address: Operand, offset = 0): Code =>
  (out) => {
    pushOperand(out, address, "i32");
    // Alignment is only a hint; 0 promises nothing.
    out.push(...opcode, 0);
    pushUnsigned(out, offset);
  };

/** `store(address, value, offset)` is a statement: it leaves nothing. */
const store =
  (type: ValueType, ...opcode: readonly number[]) =>
  (address: Operand, value: Operand, offset = 0): Code =>
  (out) => {
    pushOperand(out, address, "i32");
    pushOperand(out, value, type);
    out.push(...opcode, 0);
    pushUnsigned(out, offset);
  };

/** `condition ? a : b`, both evaluated. */
const select =
  (type: ValueType) =>
  (condition: Operand, a: Operand, b: Operand): Code =>
  (out) => {
    pushOperand(out, a, type);
    pushOperand(out, b, type);
    pushOperand(out, condition, "i32");
    out.push(0x1b);
  };

const ZEROS = new Array<number>(16).fill(0);

export const i32 = {
  of: (operand: Operand) => codeOf(operand, "i32"),
  eqz: unary("i32", 0x45),
  eq: binary("i32", 0x46),
  ne: binary("i32", 0x47),
  ltS: binary("i32", 0x48),
  ltU: binary("i32", 0x49),
  gtU: binary("i32", 0x4b),
  leU: binary("i32", 0x4d),
  geU: binary("i32", 0x4f),
  clz: unary("i32", 0x67),
  add: binary("i32", 0x6a),
  sub: binary("i32", 0x6b),
  mul: binary("i32", 0x6c),
  divU: binary("i32", 0x6e),
  and: binary("i32", 0x71),
  or: binary("i32", 0x72),
  xor: binary("i32", 0x73),
  shl: binary("i32", 0x74),
  shrS: binary("i32", 0x75),
  shrU: binary("i32", 0x76),
  /** The low half of a 64-bit value. */
  wrap: unary("i64", 0xa7),
  load: load(0x28),
  load8S: load(0x2c),
  load8: load(0x2d),
  load16: load(0x2f),
  store: store("i32", 0x36),
  select: select("i32"),
} as const;

export const i64 = {
  of: (operand: Operand) => codeOf(operand, "i64"),
  eqz: unary("i64", 0x50),
  eq: binary("i64", 0x51),
  ne: binary("i64", 0x52),
  ltS: binary("i64", 0x53),
  ltU: binary("i64", 0x54),
  gtS: binary("i64", 0x55),
  geS: binary("i64", 0x59),
  gtU: binary("i64", 0x56),
  leU: binary("i64", 0x58),
  geU: binary("i64", 0x5a),
  clz: unary("i64", 0x79),
  add: binary("i64", 0x7c),
  sub: binary("i64", 0x7d),
  mul: binary("i64", 0x7e),
  divU: binary("i64", 0x80),
  remU: binary("i64", 0x82),
  and: binary("i64", 0x83),
  or: binary("i64", 0x84),
  xor: binary("i64", 0x85),
  shl: binary("i64", 0x86),
  shrS: binary("i64", 0x87),
  shrU: binary("i64", 0x88),
  rotl: binary("i64", 0x89),
  extendS: unary("i32", 0xac),
  extendU: unary("i32", 0xad),
  load: load(0x29),
  load8: load(0x31),
  load32: load(0x35),
  store: store("i64", 0x37),
  store8: store("i64", 0x3c),
  store32: store("i64", 0x3e),
  select: select("i64"),
} as const;

/** Vector instructions that move, mask and reverse the two 16-byte halves of a word. */
export const v128 = {
  load: load(0xfd, 0x00),
  store: store("v128", 0xfd, 0x0b),
  zero: ((out) => out.push(0xfd, 0x0c, ...ZEROS)) as Code,
  /** Byte i of the result is the byte of `a` at the index in byte i of `lanes`; 0 if that is out of range. */
  swizzle: binary("v128", 0xfd, 0x0e),
  not:
    (a: Operand): Code =>
    (out) => {
      pushOperand(out, a, "v128");
      out.push(0xfd, 0x4d);
    },
  /** The vector of two 64-bit numbers. */
  pair:
    (low: Operand, high: Operand): Code =>
    (out) => {
      pushOperand(out, low, "i64");
      out.push(0xfd, 0x12);
      pushOperand(out, high, "i64");
      out.push(0xfd, 0x1e, 1);
    },
  /** Number 0 (low) or 1 (high) of the two 64-bit numbers of `a`. */
  lane:
    (a: Operand, lane: 0 | 1): Code =>
    (out) => {
      pushOperand(out, a, "v128");
      out.push(0xfd, 0x1d, lane);
    },
  and: binary("v128", 0xfd, 0x4e),
  or: binary("v128", 0xfd, 0x50),
  xor: binary("v128", 0xfd, 0x51),
  /** a ∧ ¬b */
  andNot: binary("v128", 0xfd, 0x4f),
  /** Both 64-bit numbers of `a`, rotated to the left by `bits`, from 1 to 63. */
  rotl:
    (a: Local, bits: number): Code =>
    (out) => {
      pushOperand(out, a, "v128");
      pushOperand(out, bits, "i32");
      out.push(0xfd, 0xcb, 0x01);
      pushOperand(out, a, "v128");
      pushOperand(out, 64 - bits, "i32");
      out.push(0xfd, 0xcd, 0x01, 0xfd, 0x50);
    },
  /** 1 when any bit is set. */
  anyTrue:
    (a: Operand): Code =>
    (out) => {
      pushOperand(out, a, "v128");
      out.push(0xfd, 0x53);
    },
} as const;

const onRange =
  (...opcode: readonly number[]) =>
  (to: Operand, fromOrByte: Operand, length: Operand): Code =>
  (out) => {
    pushOperand(out, to, "i32");
    pushOperand(out, fromOrByte, "i32");
    pushOperand(out, length, "i32");
    out.push(...opcode);
  };

export const memory = {
  /** Size in pages of 64 KiB. */
  size: ((out) => out.push(0x3f, 0x00)) as Code,
  /** Leaves the former size, or −1. */
  grow:
    (pages: Operand): Code =>
    (out) => {
      pushOperand(out, pages, "i32");
      out.push(0x40, 0x00);
    },
  /** copy(to, from, length), a statement; the regions may overlap */
  copy: onRange(0xfc, 0x0a, 0x00, 0x00),
  /** fill(to, byte, length), a statement */
  fill: onRange(0xfc, 0x0b, 0x00),
} as const;

/** Appends the unsigned LEB128 form of `value` (WebAssembly specification 5.2.2); `value` < 2^53. */
export function pushUnsigned(out: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    out.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  out.push(rest);
}

/** Appends the signed LEB128 form of `value`. */
export function pushSigned(out: number[], value: number | bigint): void {
  if (value >= -0x40 && value < 0x40) {
    out.push(Number(value) & 0x7f);
    return;
  }
  if (value >= -0x8000_0000 && value <= 0x7fff_ffff) pushSigned32(out, Number(value));
  else pushSignedLong(out, BigInt(value));
}

function pushSigned32(out: number[], value: number): void {
  let rest = value;
  for (;;) {
    const byte = rest & 0x7f;
    rest >>= 7;
    const isLast = byte & 0x40 ? rest === -1 : rest === 0;
    out.push(isLast ? byte : byte | 0x80);
    if (isLast) return;
  }
}

function pushSignedLong(out: number[], value: bigint): void {
  let rest = value;
  for (;;) {
    const byte = Number(rest & 0x7fn);
    rest >>= 7n;
    const isLast = byte & 0x40 ? rest === -1n : rest === 0n;
    out.push(isLast ? byte : byte | 0x80);
    if (isLast) return;
  }
}

export function unsigned(value: number): number[] {
  const out: number[] = [];
  pushUnsigned(out, value);
  return out;
}
