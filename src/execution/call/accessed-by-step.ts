import type { AccessStep } from "../../evm/tracer.ts";
import { type Address, addressFromWord } from "../../primitives/address.ts";
import { type Hash, hashFromBigint } from "../../primitives/hash.ts";

/** What one opcode names: an account, or a slot of the account that runs. */
type StepAccess = {
  readonly address: Address;
  readonly slot: Hash | null;
  /** A call of `address`. */
  readonly isCall: boolean;
};

const [SLOAD, SSTORE] = [0x54, 0x55];
/** BALANCE, EXTCODESIZE, EXTCODECOPY, EXTCODEHASH, SELFDESTRUCT: the address is on top. */
const ACCOUNT_ON_TOP: ReadonlySet<number> = new Set([0x31, 0x3b, 0x3c, 0x3f, 0xff]);
/** CALL, CALLCODE, DELEGATECALL, STATICCALL: the address is below the gas. */
const CALLS: ReadonlySet<number> = new Set([0xf1, 0xf2, 0xf4, 0xfa]);
/** geth's tracers look at a call only with that many words, fewer than CALL takes. */
const CALL_WORDS_MIN = 5;

/** The account or slot that `step` accesses, if its stack holds it; also of an opcode that fails. */
export function accessOfStep(step: AccessStep): StepAccess | undefined {
  const { opcode, stackHeight } = step;
  if (opcode === SLOAD || opcode === SSTORE) {
    if (stackHeight === 0) return undefined;
    return { address: step.address, slot: hashFromBigint(step.operand(0)), isCall: false };
  }
  if (ACCOUNT_ON_TOP.has(opcode)) {
    if (stackHeight === 0) return undefined;
    return { address: addressFromWord(step.operand(0)), slot: null, isCall: false };
  }
  if (!CALLS.has(opcode) || stackHeight < CALL_WORDS_MIN) return undefined;
  return { address: addressFromWord(step.operand(1)), slot: null, isCall: true };
}
