import type { Hex } from "viem";
import { opcodesOf } from "../../src/evm/machine/opcodes.ts";

const CODES = new Map(opcodesOf("amsterdam").flatMap((opcode) => (opcode ? [[opcode.name, opcode.code]] : [])));

/** Code of opcode names and, after a PUSH, its operand in hex; operands are filled up with zeros on the left. */
export function assemble(text: string): Hex {
  let code = "0x";
  const words = text.trim().split(/\s+/);
  for (let i = 0; i < words.length; i++) {
    const name = words[i]!;
    const opcode = name === "INVALID" ? 0xfe : CODES.get(name);
    if (opcode === undefined) throw new Error(`no opcode ${name}`);
    code += opcode.toString(16).padStart(2, "0");
    const size = /^PUSH([1-9]\d*)$/.exec(name)?.[1];
    if (size !== undefined) code += words[++i]!.replace(/^0x/, "").padStart(2 * Number(size), "0");
  }
  return code as Hex;
}

/** Init code that deploys `runtime`. */
export function deploymentOf(runtime: Hex): Hex {
  const size = (runtime.length - 2) / 2;
  const prefix = assemble(`PUSH2 ${size.toString(16)} DUP1 PUSH1 0c PUSH1 00 CODECOPY PUSH1 00 RETURN`);
  return `${prefix}${runtime.slice(2)}` as Hex;
}
