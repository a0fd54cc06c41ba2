import { bytesToBigint } from "../../primitives/bytes.ts";
import { bytesToHex } from "../../primitives/hex.ts";

const ERROR_SELECTOR = "0x08c379a0";
const PANIC_SELECTOR = "0x4e487b71";

/** Solidity's panic codes as geth words them. */
const PANICS: Readonly<Record<string, string>> = {
  "0": "generic panic",
  "1": "assert(false)",
  "17": "arithmetic underflow or overflow",
  "18": "division or modulo by zero",
  "33": "enum overflow",
  "34": "invalid encoded storage byte array accessed",
  "49": "out-of-bounds array access; popping on an empty array",
  "50": "out-of-bounds access of an array or bytesN",
  "65": "out of memory",
  "81": "uninitialized function",
};

/** `execution reverted`, with the reason behind it when `data` is `Error(string)` or `Panic(uint256)`. */
export function revertText(data: Uint8Array): string {
  const reason = revertReason(data);
  return reason === undefined ? "execution reverted" : `execution reverted: ${reason}`;
}

/** The reason in revert data; undefined when it has none that can be read. */
export function revertReason(data: Uint8Array): string | undefined {
  if (data.length < 4) return undefined;
  const selector = bytesToHex(data.subarray(0, 4));
  const payload = data.subarray(4);
  if (selector === ERROR_SELECTOR) return decodeString(payload);
  if (selector === PANIC_SELECTOR) return decodePanic(payload);
  return undefined;
}

function decodePanic(payload: Uint8Array): string | undefined {
  if (payload.length < 32) return undefined;
  const code = bytesToBigint(payload.subarray(0, 32));
  return PANICS[code.toString()] ?? `unknown panic code: 0x${code.toString(16)}`;
}

/** ABI encoding of one string: offset of its length, length, bytes. */
function decodeString(payload: Uint8Array): string | undefined {
  const offset = wordAt(payload, 0);
  if (offset === undefined) return undefined;
  const length = wordAt(payload, offset);
  if (length === undefined || offset + 32 + length > payload.length) return undefined;
  return new TextDecoder().decode(payload.subarray(offset + 32, offset + 32 + length));
}

/** A word that can be an offset or a length in `bytes`; undefined when it can not. */
function wordAt(bytes: Uint8Array, offset: number): number | undefined {
  if (offset + 32 > bytes.length) return undefined;
  const word = bytesToBigint(bytes.subarray(offset, offset + 32));
  return word <= BigInt(bytes.length) ? Number(word) : undefined;
}
