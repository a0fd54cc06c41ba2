import { bytesToHex, type Hex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { opcodesOf } from "../../src/evm/machine/opcodes.ts";

const CODES = new Map<string, number>();
for (const opcode of opcodesOf("osaka")) if (opcode) CODES.set(opcode.name, opcode.code);

/**
 * Bytecode of words separated by spaces: opcode names; numbers and 0x data, which become the shortest PUSH; `:name`, a JUMPDEST;
 * `@name`, a PUSH2 of where that is; `!hex`, bytes as they are.
 */
export function asm(source: string): Hex {
  const words = source
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  const labels = new Map<string, number>();
  const parts: (Uint8Array | string)[] = [];
  let length = 0;
  for (const word of words) {
    if (word.startsWith(":")) labels.set(word.slice(1), length);
    const part = word.startsWith("@") ? word.slice(1) : bytesOf(word);
    parts.push(part);
    length += typeof part === "string" ? 3 : part.length;
  }
  const bytes = parts.flatMap((part) => {
    if (typeof part !== "string") return [...part];
    const target = labels.get(part);
    if (target === undefined) throw new Error(`no label ${part}`);
    return [0x61, target >> 8, target & 0xff];
  });
  return bytesToHex(Uint8Array.from(bytes));
}

function bytesOf(word: string): Uint8Array {
  if (word.startsWith("!")) return hexToBytes(`0x${word.slice(1)}`);
  if (word.startsWith(":")) return Uint8Array.of(0x5b);
  const opcode = CODES.get(word);
  if (opcode !== undefined) return Uint8Array.of(opcode);
  if (word.startsWith("0x") && word.length % 2 === 0) {
    const data = hexToBytes(word as Hex);
    return Uint8Array.of(0x5f + data.length, ...data);
  }
  const digits = BigInt(word).toString(16);
  const data = hexToBytes(`0x${digits.length % 2 === 0 ? digits : `0${digits}`}`);
  return Uint8Array.of(0x5f + data.length, ...data);
}
