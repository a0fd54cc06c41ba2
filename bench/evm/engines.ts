import type { Address } from "../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { hashFromBigint } from "../../src/base/primitives/hash.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import type { Evm, ExecuteOptions } from "../../src/evm/machine/evm.ts";
import type { StateReader } from "../../src/evm/state/reader.ts";
import { createWorldState } from "../../src/evm/state/world-state.ts";
import { testBlock, testMessage } from "../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../test/support/evm/state/memory-state.ts";
import { call, type Peer } from "../support/peers.ts";
import type { Program } from "./programs.ts";

export const CALLER = `0x${"aa".repeat(20)}` as Address;
export const CONTRACT = `0x${"cc".repeat(20)}` as Address;
export const GAS = 1_000_000_000n;
/** Of the contract, in wei: what programs that send value send. */
const BALANCE = 10n ** 18n;

const block = testBlock({
  hardfork: "prague",
  gasLimit: GAS,
  baseFeePerGas: 0n,
  timestamp: 1_800_000_000,
});

/** What a program finds; each execution begins with it. */
const states = new WeakMap<Program, StateReader>();

function stateOf(program: Program): StateReader {
  let state = states.get(program);
  if (state === undefined) {
    const own = { balance: BALANCE, nonce: 1n, code: program.code };
    const accounts = program.accounts ?? new Map([[CONTRACT, own]]);
    state = createMemoryState(new Map([...accounts, [CALLER, { balance: 0n, nonce: 1n }]]));
    states.set(program, state);
  }
  return state;
}

/** One execution on an engine of this process: its milliseconds, those of CPU time among them, and the gas it used. */
export function timeOnEngine(
  evm: Evm,
  program: Program,
  options?: ExecuteOptions,
): { readonly ms: number; readonly cpuMs: number; readonly gas: bigint } {
  const { data, name, to = CONTRACT } = program;
  const state = createWorldState(stateOf(program));
  const message = testMessage({ to, caller: CALLER, origin: CALLER, data, gas: GAS });
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  const { outcome, gasLeft } = evm.execute(message, block, state, options);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuBefore);
  if (outcome !== "success") throw new Error(`${name}: ${outcome}`);
  return { ms, cpuMs: (user + system) / 1000, gas: GAS - gasLeft };
}

/** One eth_call to a node that gets the accounts with the call (geth's state overrides), in milliseconds. */
export async function timeOnPeer({ port }: Peer, program: Program): Promise<number> {
  const { data, to = CONTRACT } = program;
  const request = { from: CALLER, to, data: bytesToHex(data), gas: toQuantity(GAS) };
  const overrides = overridesOf(program);
  const start = performance.now();
  await call(port, "eth_call", [request, "latest", overrides]);
  return performance.now() - start;
}

function overridesOf({ code, accounts }: Program) {
  if (accounts === undefined) {
    return { [CONTRACT]: { code: bytesToHex(code), balance: toQuantity(BALANCE) } };
  }
  return Object.fromEntries(
    [...accounts].map(([address, { balance, nonce = 0n, code, storage }]) => [
      address,
      {
        balance: toQuantity(balance),
        nonce: toQuantity(nonce),
        code: bytesToHex(code ?? EMPTY_BYTES),
        state: Object.fromEntries([...(storage ?? [])].map(([slot, value]) => [slot, hashFromBigint(value)])),
      },
    ]),
  );
}

function toQuantity(value: bigint): string {
  return `0x${value.toString(16)}`;
}
