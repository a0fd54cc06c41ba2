import { concatBytes } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import { opcodesOf } from "../opcodes.ts";
import type { Rules } from "../rules.ts";
import type { ContractEmitter } from "./compiled/contract.ts";
import { emitInterpreter } from "./interpreter.ts";

/**
 * The hash of an interpreter and of a compiled contract with every opcode: it changes with what either emits, so that a
 * module stored by another version is never run.
 */
export function fingerprintOf(rules: Rules, emitter: ContractEmitter): Hash {
  const contract = emitter.emit(everyOpcode(rules));
  return keccak256Hash(concatBytes(emitInterpreter(rules, "fast", [0n, 0n, 0n, 0n]), contract ?? new Uint8Array()));
}

/** A JUMPI to each opcode, which finds unknown operands there. */
function everyOpcode(rules: Rules): Uint8Array {
  const targets = opcodesOf(rules.hardfork).flatMap((opcode) => {
    if (opcode === undefined) return [];
    const operands = Array.from({ length: opcode.pops }, () => [CALLER, CALLDATALOAD]).flat();
    const immediate = new Array<number>(opcode.variants ? 1 : opcode.immediate).fill(0xa5);
    const end = opcode.code === PUSH2 ? [JUMP] : [CALLER, CALLDATALOAD, JUMP];
    return [[JUMPDEST, ...operands, opcode.code, ...immediate, ...end]];
  });
  const prologue = 6 * targets.length + 1;
  let at = prologue;
  const jumps = targets.flatMap((target) => {
    const jump = [CALLER, PUSH2, at >> 8, at & 0xff, JUMPI, JUMPDEST];
    at += target.length;
    return jump;
  });
  return Uint8Array.from([...jumps, 0, ...targets.flat()]);
}
const CALLER = 0x33;
const CALLDATALOAD = 0x35;
const JUMP = 0x56;
const JUMPI = 0x57;
const JUMPDEST = 0x5b;
const PUSH2 = 0x61;
