import { opcodeName } from "./opcodes.ts";

/** Why a frame stopped without a result; texts of geth are made from it in `evm/machine/halts.ts`. */
export type Halt =
  | { readonly kind: "outOfGas"; readonly reason?: string }
  | { readonly kind: "gasUintOverflow" }
  | { readonly kind: "codeStoreOutOfGas" }
  | { readonly kind: "callDepth" }
  | { readonly kind: "insufficientBalance" }
  /** The recipient would have 2^256 wei or more. */
  | { readonly kind: "balanceOverflow" }
  | { readonly kind: "addressCollision" }
  | { readonly kind: "codeSizeExceeded"; readonly size: number; readonly limit: number }
  | { readonly kind: "initCodeSizeExceeded"; readonly size: number; readonly limit: number }
  | { readonly kind: "invalidJump" }
  | { readonly kind: "writeProtection" }
  | { readonly kind: "returnDataOutOfBounds" }
  | { readonly kind: "invalidCode" }
  | { readonly kind: "nonceOverflow" }
  | { readonly kind: "stackUnderflow"; readonly have: number; readonly need: number }
  | { readonly kind: "stackOverflow"; readonly have: number; readonly limit: number }
  /** `operand` is the byte after an opcode that it cannot be used with (EIP-8024). */
  | { readonly kind: "invalidOpcode"; readonly opcode: number; readonly operand?: number }
  | { readonly kind: "precompile"; readonly reason: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "memoryLimit" };

/** How `run` came back to the driver. */
export const exit = {
  stop: 0,
  return: 1,
  revert: 2,
  selfDestruct: 3,
  halt: 4,
  /** A segment cannot run to its end: run it per opcode to learn why. */
  checkFailed: 5,
  call: 6,
  create: 7,
  /** The other tier runs the frame from here on: a compiled contract left at the border of a block. */
  border: 8,
} as const;

/** Numbers of `FrameResult.outcome` in emitted code. */
export const frameOutcome = { success: 0, revert: 1, halt: 2 } as const;

/** Numbers the emitted code gives to the reasons of a halt. */
export const haltCode = {
  none: 0,
  outOfGas: 1,
  /** A memory size that costs more than 2^64 gas */
  outOfGasOverflow: 2,
  outOfGasWriteProtection: 3,
  outOfGasSentry: 4,
  outOfGasInitCodeSize: 5,
  gasUintOverflow: 6,
  invalidJump: 7,
  writeProtection: 8,
  returnDataOutOfBounds: 9,
  stackUnderflow: 10,
  stackOverflow: 11,
  invalidOpcode: 12,
  timeout: 13,
  memoryLimit: 14,
  /** geth's gas function for calls itself runs out of gas, and its caller repeats the error */
  outOfGasInAccess: 15,
} as const;

const OUT_OF_GAS: Halt = { kind: "outOfGas" };

/** The detail of `invalidOpcode` where it is the byte after the opcode that has no meaning. */
export function unusableOperand(opcode: number, operand: number): number {
  return 0x10000 | (operand << 8) | opcode;
}

/** The halt of `code`; `detail` is the opcode, the size, or (stack) words had and opcode bounds. */
export function haltOf(code: number, detail: number, initCodeSizeMax: number): Halt {
  switch (code) {
    case haltCode.outOfGas:
      return OUT_OF_GAS;
    case haltCode.outOfGasOverflow:
      return { kind: "outOfGas", reason: "gas uint64 overflow" };
    case haltCode.outOfGasWriteProtection:
      return { kind: "outOfGas", reason: "write protection" };
    case haltCode.outOfGasInAccess:
      return { kind: "outOfGas", reason: "out of gas" };
    case haltCode.outOfGasSentry:
      return { kind: "outOfGas", reason: "not enough gas for reentrancy sentry" };
    case haltCode.outOfGasInitCodeSize:
      return {
        kind: "outOfGas",
        reason: `max initcode size exceeded: code size ${detail} limit ${initCodeSizeMax}`,
      };
    case haltCode.gasUintOverflow:
      return { kind: "gasUintOverflow" };
    case haltCode.invalidJump:
      return { kind: "invalidJump" };
    case haltCode.writeProtection:
      return { kind: "writeProtection" };
    case haltCode.returnDataOutOfBounds:
      return { kind: "returnDataOutOfBounds" };
    case haltCode.stackUnderflow:
      return { kind: "stackUnderflow", have: detail >>> 16, need: detail & 0xffff };
    case haltCode.stackOverflow:
      return { kind: "stackOverflow", have: detail >>> 16, limit: detail & 0xffff };
    case haltCode.invalidOpcode:
      return detail > 0xff
        ? { kind: "invalidOpcode", opcode: detail & 0xff, operand: (detail >>> 8) & 0xff }
        : { kind: "invalidOpcode", opcode: detail };
    case haltCode.timeout:
      return { kind: "timeout" };
    default:
      return { kind: "memoryLimit" };
  }
}

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
    case "balanceOverflow":
      return "balance of recipient overflows";
    case "addressCollision":
      return "contract address collision";
    case "codeSizeExceeded":
      return `max code size exceeded: code size ${halt.size} limit ${halt.limit}`;
    case "initCodeSizeExceeded":
      return `max initcode size exceeded: code size ${halt.size} limit ${halt.limit}`;
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
      return halt.operand === undefined
        ? `invalid opcode: ${opcodeName(halt.opcode)}`
        : `invalid opcode: ${opcodeName(halt.opcode)} (operand: 0x${halt.operand.toString(16).padStart(2, "0")})`;
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
