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

/** The unsigned LEB128 form of `value`. */
export function unsigned(value: number): number[] {
  const out: number[] = [];
  pushUnsigned(out, value);
  return out;
}
