import type { Halt } from "./halts.ts";
import { opcodeName } from "./opcodes.ts";

const CODE_SIZE_MAX = 24_576;
const INIT_CODE_SIZE_MAX = 49_152;

/** geth's text for the reason a frame stopped, as calls and traces show it. */
export function haltText(halt: Halt): string {
  switch (halt.kind) {
    case "outOfGas":
      return halt.reason === undefined ? "out of gas" : `out of gas: ${halt.reason}`;
    case "gasUintOverflow":
      return "gas uint64 overflow";
    case "codeStoreOutOfGas":
      return "contract creation code storage out of gas";
    case "callDepth":
      return "max call depth exceeded";
    case "insufficientBalance":
      return "insufficient balance for transfer";
    case "addressCollision":
      return "contract address collision";
    case "codeSizeExceeded":
      return `max code size exceeded: code size ${halt.size} limit ${CODE_SIZE_MAX}`;
    case "initCodeSizeExceeded":
      return `max initcode size exceeded: code size ${halt.size} limit ${INIT_CODE_SIZE_MAX}`;
    case "invalidJump":
      return "invalid jump destination";
    case "writeProtection":
      return "write protection";
    case "returnDataOutOfBounds":
      return "return data out of bounds";
    case "invalidCode":
      return "invalid code: must not begin with 0xef";
    case "nonceOverflow":
      return "nonce uint64 overflow";
    case "stackUnderflow":
      return `stack underflow (${halt.have} <=> ${halt.need})`;
    case "stackOverflow":
      return `stack limit reached ${halt.have} (${halt.limit})`;
    case "invalidOpcode":
      return `invalid opcode: ${opcodeName(halt.opcode)}`;
    case "precompile":
      return halt.reason;
    case "timeout":
      return "execution aborted";
    case "memoryLimit":
      return "out of memory";
  }
}

/** True when geth's errors.Is(err, ErrOutOfGas) is: estimateGas then says that the allowance is too small. */
export function isOutOfGas(halt: Halt): boolean {
  return halt.kind === "outOfGas";
}
