export const CONTRACT = `0x${"aa".repeat(20)}`;

/** Gas of endless loops: some 20 ms and 100 ms of one thread. */
const LOOP_GAS = ["0x989680", "0x2faf080"];

/** Parameters of an `eth_call` of a loop, short and long in turn. */
export function loopCall(turn: number): unknown[] {
  const gas = LOOP_GAS[turn % LOOP_GAS.length];
  return [{ to: CONTRACT, gas }, "latest", { [CONTRACT]: { code: "0x5b5f56" } }];
}
