import { i32, i64, type Operand } from "../../../../../base/wasm/code.ts";
import { environment, frame, record } from "../../../memory/layout.ts";
import { ARITHMETIC } from "./arithmetic.ts";
import { BITWISE } from "./bitwise.ts";
import { MEMORY } from "./memory.ts";
import { hold, type Inline } from "./operands.ts";

function word(address: Operand, offset = 0): Inline {
  return (path) => {
    const limbs = [0, 1, 2, 3].map((i) => hold(path, i64.load(address, offset + 8 * i)));
    path.stack.push(limbs);
    return true;
  };
}

/** An address: 160 bits. */
function address(from: Operand, offset = 0): Inline {
  return (path) => {
    const limbs = [0, 1].map((i) => hold(path, i64.load(from, offset + 8 * i)));
    path.stack.push([...limbs, hold(path, i64.load32(from, offset + 16)), 0n]);
    return true;
  };
}

function small(value: () => Operand): Inline {
  return (path) => {
    path.stack.push([hold(path, value()), 0n, 0n, 0n]);
    return true;
  };
}

const ENVIRONMENT: Readonly<Record<string, Inline>> = {
  ADDRESS: address(i32.load(frame.account), record.key),
  ORIGIN: address(environment.origin),
  CALLER: address(frame.caller),
  CALLVALUE: word(frame.value),
  CALLDATASIZE: small(() => i64.load32(frame.inputSize)),
  CODESIZE: (path) => {
    path.stack.push([BigInt(path.part.map.code.length), 0n, 0n, 0n]);
    return true;
  },
  GASPRICE: word(environment.gasPrice),
  RETURNDATASIZE: small(() => i64.load32(frame.returnDataSize)),
  COINBASE: address(environment.coinbase),
  TIMESTAMP: word(environment.timestamp),
  NUMBER: word(environment.number),
  DIFFICULTY: word(environment.difficulty),
  GASLIMIT: word(environment.gasLimit),
  CHAINID: word(environment.chainId),
  SELFBALANCE: word(i32.load(frame.account), record.value),
  BASEFEE: word(environment.baseFee),
  BLOBBASEFEE: word(environment.blobBaseFee),
};

/** Opcodes whose operands stay in variables, by the names of `opcodes.ts`; all others are emitted on the stack. */
export const INLINE: Readonly<Record<string, Inline | undefined>> = {
  ...ARITHMETIC,
  ...BITWISE,
  ...ENVIRONMENT,
  ...MEMORY,
};
