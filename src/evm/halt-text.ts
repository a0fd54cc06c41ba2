import type { Halt } from "./evm.ts";

const CODE_SIZE_MAX = 24_576;
const INIT_CODE_SIZE_MAX = 49_152;

/** Opcodes that some fork does not have yet; geth calls them by name there too. */
const LATER_OPCODES: Readonly<Record<number, string>> = {
  27: "SHL",
  28: "SHR",
  29: "SAR",
  30: "CLZ",
  61: "RETURNDATASIZE",
  62: "RETURNDATACOPY",
  63: "EXTCODEHASH",
  70: "CHAINID",
  71: "SELFBALANCE",
  72: "BASEFEE",
  73: "BLOBHASH",
  74: "BLOBBASEFEE",
  92: "TLOAD",
  93: "TSTORE",
  94: "MCOPY",
  95: "PUSH0",
  244: "DELEGATECALL",
  245: "CREATE2",
  250: "STATICCALL",
  253: "REVERT",
  254: "INVALID",
};

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
      return `invalid opcode: ${opcodeText(halt.opcode)}`;
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

function opcodeText(opcode: number): string {
  return LATER_OPCODES[opcode] ?? `opcode 0x${opcode.toString(16)} not defined`;
}
