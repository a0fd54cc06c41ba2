import type { EVMError } from "@ethereumjs/evm";
import type { Halt } from "../../../src/evm/machine/halts.ts";

/** What the library reports of the frame that stopped; its errors are bare words. */
export type HaltedFrame = {
  readonly opcode: number | undefined;
  readonly stackLength: number;
};

const STACK_LIMIT = 1024;

/** Stack items each opcode takes, for the text of an underflow. */
const POPS = stackItemsTaken();

/** What made a frame fail. In Frontier a creation that cannot pay for its code succeeds without code. */
export function failureOf(error: EVMError | undefined, hardfork: string): EVMError | undefined {
  const isFrontier = hardfork === "frontier" || hardfork === "chainstart";
  return isFrontier && error?.error === "code store out of gas" ? undefined : error;
}

/** The reason in our words; `have`, `need` and `limit` hold for the opcode the frame stopped at. */
export function haltOf(error: EVMError, frame: HaltedFrame): Halt {
  // Where the library itself says more it does so after the word: "invalid JUMP at …".
  if (error.error.startsWith("invalid JUMP")) return { kind: "invalidJump" };
  switch (error.error) {
    case "out of gas":
    case "value out of range":
      return { kind: "outOfGas" };
    case "code store out of gas":
      return { kind: "codeStoreOutOfGas" };
    case "code size to deposit exceeds maximum code size":
      return { kind: "codeSizeExceeded", size: 0, limit: 0 };
    case "initcode exceeds max initcode size":
      return { kind: "initCodeSizeExceeded", size: 0, limit: 0 };
    case "stack underflow":
      return {
        kind: "stackUnderflow",
        have: frame.stackLength,
        need: POPS[frame.opcode ?? 0] ?? 0,
      };
    case "stack overflow":
      return { kind: "stackOverflow", have: frame.stackLength, limit: STACK_LIMIT - 1 };
    case "invalid opcode":
      return { kind: "invalidOpcode", opcode: frame.opcode ?? 0xfe };
    case "static state change":
      return { kind: "writeProtection" };
    case "create collision":
      return { kind: "addressCollision" };
    case "insufficient balance":
    case "value overflow":
      return { kind: "insufficientBalance" };
    case "invalid bytecode deployed":
      return { kind: "invalidCode" };
    default:
      return { kind: "precompile", reason: error.error };
  }
}

/** Indexed by opcode. */
function stackItemsTaken(): readonly number[] {
  const pops = new Array<number>(256).fill(0);
  const set = (from: number, to: number, count: number) => pops.fill(count, from, to + 1);
  set(0x01, 0x07, 2);
  set(0x08, 0x09, 3);
  set(0x0a, 0x0b, 2);
  set(0x10, 0x14, 2);
  set(0x15, 0x15, 1);
  set(0x16, 0x18, 2);
  set(0x19, 0x19, 1);
  set(0x1a, 0x1d, 2);
  set(0x1e, 0x1e, 1);
  set(0x20, 0x20, 2);
  set(0x31, 0x31, 1);
  set(0x35, 0x35, 1);
  set(0x37, 0x37, 3);
  set(0x39, 0x39, 3);
  set(0x3b, 0x3b, 1);
  set(0x3c, 0x3c, 4);
  set(0x3e, 0x3e, 3);
  set(0x3f, 0x40, 1);
  set(0x49, 0x49, 1);
  set(0x50, 0x51, 1);
  set(0x52, 0x53, 2);
  set(0x54, 0x54, 1);
  set(0x55, 0x55, 2);
  set(0x56, 0x56, 1);
  set(0x57, 0x57, 2);
  set(0x5c, 0x5c, 1);
  set(0x5d, 0x5d, 2);
  set(0x5e, 0x5e, 3);
  for (let n = 1; n <= 16; n++) {
    set(0x7f + n, 0x7f + n, n);
    set(0x8f + n, 0x8f + n, n + 1);
  }
  for (let n = 0; n <= 4; n++) set(0xa0 + n, 0xa0 + n, n + 2);
  set(0xf0, 0xf0, 3);
  set(0xf1, 0xf2, 7);
  set(0xf3, 0xf3, 2);
  set(0xf4, 0xf4, 6);
  set(0xf5, 0xf5, 4);
  set(0xfa, 0xfa, 6);
  set(0xfd, 0xfd, 2);
  set(0xff, 0xff, 1);
  return pops;
}
