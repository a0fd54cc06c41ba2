import { PROGRAMS } from "../programs.ts";
import type { ChainFacts, DifferentialCase } from "./request.ts";
import { TRACERS } from "./tracers.ts";

type Overrides = Readonly<Record<string, unknown>>;

/** State overrides that put every program where it belongs, on a chain that has none. */
export function programOverrides(programs = PROGRAMS): Overrides {
  return Object.fromEntries(
    programs.map(({ address, code, storage }) => [
      address,
      { code, balance: "0x64", nonce: "0x1", ...(storage && { stateDiff: storage }) },
    ]),
  );
}

/** Every program under every method that executes. */
export function* programCases(
  { sender }: ChainFacts,
  block: string,
  overrides: Overrides | undefined,
): Generator<DifferentialCase> {
  for (const { name, address } of PROGRAMS) {
    const runs = name === "recursive" || name === "loop" ? { gas: "0x30d40" } : { gas: "0xf4240" };
    for (const [kind, fields] of [
      ["plain", { input: "0x00010203ff" }],
      ["value", { value: "0x5" }],
      ["priced", { maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x1" }],
    ] as const) {
      const call = { from: sender, to: address, ...runs, ...fields };
      const of = (method: string, ...params: unknown[]) => ({
        name: `${name} ${kind}`,
        method,
        params,
      });
      yield of("eth_call", call, block, overrides ?? null);
      yield of("eth_estimateGas", call, block, overrides ?? null);
      yield of("eth_createAccessList", call, block, overrides ?? null);
      const blockStateCalls = [{ calls: [call], ...(overrides && { stateOverrides: overrides }) }];
      for (const traceTransfers of [true, false]) {
        yield of("eth_simulateV1", { blockStateCalls, traceTransfers, returnFullTransactions: true }, block);
      }
      if (kind === "priced") continue;
      for (const config of TRACERS) {
        yield of("debug_traceCall", call, block, { ...config, stateOverrides: overrides });
      }
    }
    yield* starvedCases({ sender, address, name, block, overrides });
  }
}

const FORK_PROGRAMS = [
  "selfDestruct",
  "selfDestructSelf",
  "selfDestructNew",
  "callSelfDestruct",
  "createSelfDestruct",
  "create2Twice",
  "sstoreClear",
  "sstoreThrice",
  "callNewValue",
  "callTooMuchValue",
  "callGasHuge",
  "staticSstore",
  "exp",
  "extcode",
  "deeper",
  "callcodeSstore",
  "precompileModexp",
  "precompileBnAdd",
  "createEf",
  "createDeposit",
];

/** What forks changed, under every tracer on blocks of all forks. */
export function* forkCases({ sender, head }: ChainFacts): Generator<DifferentialCase> {
  const programs = PROGRAMS.filter(({ name }) => FORK_PROGRAMS.includes(name));
  const called = /^(?:sstoreNew|deep|callRevertString|revertString)$/;
  const overrides = programOverrides(PROGRAMS.filter((each) => programs.includes(each) || called.test(each.name)));
  for (let number = 1; number <= head; number += 3) {
    for (const { name, address } of programs) {
      for (const [i, config] of TRACERS.entries()) {
        const call = {
          from: sender,
          to: address,
          gas: "0x493e0",
          value: i % 2 === 0 ? "0x5" : "0x0",
        };
        yield {
          name: `${name} at block ${number}`,
          method: "debug_traceCall",
          params: [call, `0x${number.toString(16)}`, { ...config, stateOverrides: overrides }],
        };
      }
    }
  }
}

/** The same call with less and less gas, so that it runs out at every kind of step. */
function* starvedCases(options: {
  readonly sender: string;
  readonly address: string;
  readonly name: string;
  readonly block: string;
  readonly overrides: Overrides | undefined;
}): Generator<DifferentialCase> {
  const { sender, address, name, block, overrides } = options;
  const extras = [
    0, 1, 2, 3, 5, 8, 12, 20, 50, 100, 101, 200, 375, 700, 800, 2100, 2102, 2300, 2302, 2305, 2600, 2700, 5000, 5100,
    9000, 9100, 11000, 20000, 22000, 22105, 25000, 32000, 32010, 34000, 43000, 60000,
  ];
  for (const extra of extras) {
    const gas = `0x${(21_000 + extra).toString(16)}`;
    const call = { from: sender, to: address, gas };
    const of = (method: string, ...params: unknown[]) => ({
      name: `${name} with ${extra} gas`,
      method,
      params,
    });
    yield of("debug_traceCall", call, block, { stateOverrides: overrides });
    if (extra % 4 === 0) {
      const config = { tracer: "callTracer", stateOverrides: overrides };
      yield of("debug_traceCall", call, block, config);
      yield of("debug_traceCall", call, block, {
        ...config,
        tracer: "prestateTracer",
        tracerConfig: { diffMode: true },
      });
      yield of("debug_traceCall", call, block, { ...config, tracer: "flatCallTracer" });
      yield of("eth_call", call, block, overrides ?? null);
      yield of("eth_createAccessList", call, block, overrides ?? null);
      yield of("eth_estimateGas", call, block, overrides ?? null);
    }
  }
}

/** Creations by a transaction itself. */
export function* creationCases({ sender }: ChainFacts, block: string): Generator<DifferentialCase> {
  const codes = [
    "0x",
    "0x00",
    "0x60016000f3",
    "0x60006000fd",
    "0xfe",
    "0x60ef60005360016000f3",
    "0x6160016000f3",
    "0x6120006000f3",
    "0x33ff",
    "0x600a600d600039600a6000f3602a60005260206000f3",
    "0x5b600056",
    `0x${"00".repeat(49_152)}`,
    `0x${"00".repeat(49_153)}`,
    "0x7f08c379a000000000000000000000000000000000000000000000000000000000600052600460006000fd",
  ];
  for (const input of codes) {
    for (const gas of ["0xcf08", "0xcf6c", "0xf4240", "0xffffff"]) {
      const call = { from: sender, input, gas };
      const of = (method: string, ...params: unknown[]) => ({
        name: `creation ${input.slice(0, 40)} ${gas}`,
        method,
        params,
      });
      yield of("eth_call", call, block);
      yield of("eth_estimateGas", call, block);
      yield of("eth_createAccessList", call, block);
      yield of("eth_simulateV1", { blockStateCalls: [{ calls: [call] }] }, block);
      for (const config of TRACERS) yield of("debug_traceCall", call, block, config);
    }
  }
}

/** Calls whose accesses depend on the gas that is left, and so on the list they are given. */
export function* gasDependentCases({ sender }: ChainFacts, block: string): Generator<DifferentialCase> {
  const to = `0x${"00".repeat(18)}abcd`;
  // GAS >> 12 is the slot of SLOAD, the address of BALANCE, or both.
  const [slot, account] = ["5a600c1c5450", "5a600c1c3150"];
  const codes = { slot, slots: slot.repeat(3), account, accounts: account.repeat(3), both: (slot + account).repeat(2) };
  for (const [name, code] of Object.entries(codes)) {
    for (const gas of ["0x5b04", "0x7530", "0xea60", "0xf4240"]) {
      const params = [{ from: sender, to, gas }, block, { [to]: { code: `0x${code}` } }];
      yield { name: `${name} by gas ${gas}`, method: "eth_createAccessList", params };
    }
  }
}
