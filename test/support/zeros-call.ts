import { request } from "./clients.ts";

const TARGET = `0x${"aa".repeat(20)}`;
/** An eth_call that returns `bytes` zeros. */
export function zerosCall(bytes: number): string {
  return callOf(returnOf(bytes));
}

/**
 * A batch of `count` such calls that is answered later, so that what arrives with it begins before its answer is written: the
 * first counts down from 2^20, 27 million gas.
 */
export function slowBatch(count: number, bytes: number): string {
  const slow = callOf(`620fffff5b6001900380600457${returnOf(bytes)}`);
  return `[${[slow, ...Array(count - 1).fill(zerosCall(bytes))].join(",")}]`;
}

/** PUSH3 bytes, PUSH0, RETURN. */
function returnOf(bytes: number): string {
  return `62${bytes.toString(16).padStart(6, "0")}5ff3`;
}

function callOf(code: string): string {
  return request("eth_call", [{ to: TARGET }, "latest", { [TARGET]: { code: `0x${code}` } }]);
}
