import type { Evm, ExecuteOptions } from "../../src/evm/evm.ts";
import { testBlock, testMessage } from "../../src/evm/testing/environment.ts";
import type { Address } from "../../src/primitives/address.ts";
import { EMPTY_BYTES } from "../../src/primitives/bytes.ts";
import { bytesToHex } from "../../src/primitives/hex.ts";
import { createMemoryState } from "../../src/state/memory-state.ts";
import { createWorldState } from "../../src/state/world-state.ts";
import { call, type Peer } from "../support/peers.ts";
import type { Program } from "./programs.ts";

export const CALLER = `0x${"aa".repeat(20)}` as Address;
export const CONTRACT = `0x${"cc".repeat(20)}` as Address;
export const GAS = 1_000_000_000n;
/** Of the contract, in wei: what programs that send value send. */
const BALANCE = 10n ** 18n;

const block = testBlock({ hardfork: "prague", gasLimit: GAS, baseFeePerGas: 0n });

/** One execution on an engine of this process: its milliseconds, those of CPU time among them, and the gas it used. */
export function timeOnEngine(
  evm: Evm,
  { code, data, name }: Program,
  options?: ExecuteOptions,
): { readonly ms: number; readonly cpuMs: number; readonly gas: bigint } {
  const state = createWorldState(createMemoryState());
  state.setAccount(CALLER, { nonce: 1n, balance: 0n, codeHash: state.putCode(EMPTY_BYTES) });
  state.setAccount(CONTRACT, { nonce: 1n, balance: BALANCE, codeHash: state.putCode(code) });
  const message = testMessage({ to: CONTRACT, caller: CALLER, origin: CALLER, data, gas: GAS });
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  const { outcome, gasLeft } = evm.execute(message, block, state, options);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuBefore);
  if (outcome !== "success") throw new Error(`${name}: ${outcome}`);
  return { ms, cpuMs: (user + system) / 1000, gas: GAS - gasLeft };
}

/** One eth_call to a node that gets the code with the call (geth's state overrides), in milliseconds. */
export async function timeOnPeer({ port }: Peer, { code, data }: Program): Promise<number> {
  const request = { from: CALLER, to: CONTRACT, data: bytesToHex(data), gas: toQuantity(GAS) };
  const overrides = { [CONTRACT]: { code: bytesToHex(code), balance: toQuantity(BALANCE) } };
  const start = performance.now();
  await call(port, "eth_call", [request, "latest", overrides]);
  return performance.now() - start;
}

function toQuantity(value: bigint): string {
  return `0x${value.toString(16)}`;
}
