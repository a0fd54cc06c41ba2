import { request } from "./clients.ts";

const TARGET = `0x${"aa".repeat(20)}`;
/** Counts down from 2^20: 27 million gas, which no thread of requests executes without a pause. */
const COUNT_DOWN = "620fffff5b6001900380600457";

/** An eth_call that returns `bytes` zeros. */
export function zerosCall(bytes: number): string {
  return callOf(returnOf(bytes));
}

/** The same, answered later: what arrives with it begins before its answer is written. */
export function slowZerosCall(bytes: number): string {
  return callOf(COUNT_DOWN + returnOf(bytes));
}

/** PUSH3 bytes, PUSH0, RETURN. */
function returnOf(bytes: number): string {
  return `62${bytes.toString(16).padStart(6, "0")}5ff3`;
}

function callOf(code: string): string {
  return request("eth_call", [{ to: TARGET }, "latest", { [TARGET]: { code: `0x${code}` } }]);
}
