import { bytesToHex } from "../../../src/base/primitives/hex.ts";
import { assemble, type FuzzCase } from "../../fuzz/case.ts";
import { generateCase } from "../../fuzz/generate.ts";
import { CALLER } from "../../fuzz/run.ts";
import type { DifferentialCase } from "./request.ts";
import { TRACERS } from "./tracers.ts";

const quantity = (text: string) => `0x${BigInt(text).toString(16)}`;
const word = (text: string) => `0x${BigInt(text).toString(16).padStart(64, "0")}`;

/** Random programs as state overrides, traced and called. */
export function* fuzzedCases(
  seeds: { readonly from: number; readonly count: number },
  block: string,
): Generator<DifferentialCase> {
  for (let seed = seeds.from; seed < seeds.from + seeds.count; seed++) {
    const fuzzed = generateCase(seed, "osaka");
    const stateOverrides = overridesOf(fuzzed);
    const call = {
      from: CALLER,
      ...(fuzzed.to ? { to: fuzzed.to, input: fuzzed.data } : { input: bytesToHex(assemble(fuzzed.initCode)) }),
      gas: quantity(`${Math.min(Number(fuzzed.gas) + 53_000, 2_000_000)}`),
      value: quantity(fuzzed.value),
      accessList: fuzzed.accessList.map(({ address, slots }) => ({
        address,
        storageKeys: slots.map(word),
      })),
    };
    const name = `fuzzed ${seed}`;
    const config = TRACERS[seed % TRACERS.length]!;
    for (const each of [
      {},
      { tracer: "callTracer", tracerConfig: { withLog: true } },
      config,
      { tracer: "prestateTracer", tracerConfig: { diffMode: true } },
    ]) {
      yield { name, method: "debug_traceCall", params: [call, block, { ...each, stateOverrides }] };
    }
    yield { name, method: "eth_call", params: [call, block, stateOverrides] };
    yield { name, method: "eth_estimateGas", params: [call, block, stateOverrides] };
    yield { name, method: "eth_createAccessList", params: [call, block, stateOverrides] };
    const blockStateCalls = [{ stateOverrides, calls: [call, call] }, { calls: [call] }];
    yield {
      name,
      method: "eth_simulateV1",
      params: [{ blockStateCalls, traceTransfers: seed % 2 === 0 }, block],
    };
  }
}

function overridesOf({ accounts }: FuzzCase): Readonly<Record<string, unknown>> {
  const members = accounts.map(({ address, balance, nonce, code, storage }) => [
    address,
    {
      balance: quantity(balance),
      nonce: quantity(nonce),
      ...(code.length > 0 && { code: bytesToHex(assemble(code)) }),
      ...(Object.keys(storage).length > 0 && {
        stateDiff: Object.fromEntries(Object.entries(storage).map(([slot, value]) => [word(slot), word(value)])),
      }),
    },
  ]);
  return Object.fromEntries([...members, [CALLER, { balance: "0xde0b6b3a7640000", nonce: "0x1" }]]);
}
