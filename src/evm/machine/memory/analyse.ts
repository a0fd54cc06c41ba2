import { type Opcode, opcodeAt } from "../opcodes.ts";
import { STACK_WORDS_MAX, WORD } from "./layout.ts";

/**
 * The segment table of `code`: for every byte 8 bytes, zero where no segment begins.
 *
 *     u32  gas of all opcodes in it; the top bit is set at a JUMPDEST
 *     u16  bytes the stack must hold
 *     u16  bytes it may hold beyond those
 *
 * A segment is a run of opcodes that is entered at its first only (see OpcodeKind), so its gas and its stack bounds
 * are checked once. `size` after the last byte is a segment too: the STOP that follows any code.
 */
export function writeSegments(code: Uint8Array, opcodes: readonly (Opcode | undefined)[], table: Uint32Array): void {
  const size = code.length;
  let begin = 0;
  let gas = 0;
  let height = 0;
  let need = 0;
  let most = 0;
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    const isDestination = begin < size && code[begin] === 0x5b;
    table[begin * 2] = (gas | (isDestination ? 0x80000000 : 0)) >>> 0;
    // A segment that can never run has a span below zero; 0xffff would do, so it asks for more than any stack holds.
    const span = STACK_WORDS_MAX - most - need;
    const possible = need <= STACK_WORDS_MAX && span >= 0;
    table[begin * 2 + 1] = possible ? need * WORD + span * WORD * 0x10000 : 0xffff;
  };
  const open = (pc: number) => {
    begin = pc;
    gas = 0;
    height = 0;
    need = 0;
    most = 0;
    isOpen = true;
  };
  for (let pc = 0; pc < size; ) {
    const op = code[pc]!;
    if (op === 0x5b && pc !== begin) {
      close();
      open(pc);
    }
    const opcode = opcodeAt(opcodes, code, pc);
    const next = pc + 1 + (opcode?.immediate ?? 0);
    if (isOpen && opcode !== undefined) {
      gas += opcode.gas;
      if (opcode.pops - height > need) need = opcode.pops - height;
      height += opcode.pushes - opcode.pops;
      if (height > most) most = height;
    }
    if (opcode === undefined || opcode.kind === "halt" || op === 0x56) {
      close();
      isOpen = false;
    } else if (opcode.kind !== "flow") {
      close();
      open(next);
    }
    pc = next;
  }
  if (begin > size) begin = size;
  close();
  if (table[size * 2 + 1] === 0) {
    begin = size;
    open(size);
    close();
  }
}
