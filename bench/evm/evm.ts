/** Programs on our engine, on anvil's through eth_call, and on @ethereumjs/evm, in turns in one run. */
import { createEvm } from "../../src/evm/engine.ts";
import type { BlockContext, Evm } from "../../src/evm/evm.ts";
import { type Address, ZERO_ADDRESS } from "../../src/primitives/address.ts";
import { ZERO_HASH } from "../../src/primitives/hash.ts";
import { bytesToHex } from "../../src/primitives/hex.ts";
import { createMemoryState } from "../../src/state/memory-state.ts";
import { createWorldState } from "../../src/state/world-state.ts";
import { createEthereumjsEvm } from "../../test/oracle/ethereumjs/evm.ts";
import { call, type Peer, startAnvil } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";
import { PROGRAMS, type Program, STOP } from "./programs.ts";

const CALLER = `0x${"aa".repeat(20)}` as Address;
const CONTRACT = `0x${"cc".repeat(20)}` as Address;
const GAS = 1_000_000_000n;
/** Best of so many: what else the machine does only ever adds time. */
const TURNS = 15;

const block: BlockContext = {
  hardfork: "prague",
  chainId: 1n,
  number: 1,
  timestamp: 1,
  coinbase: ZERO_ADDRESS,
  gasLimit: GAS,
  difficulty: 0n,
  prevRandao: ZERO_HASH,
  baseFeePerGas: 0n,
  blobBaseFee: 1n,
  blockHash: () => undefined,
};

export async function run(args: readonly string[]): Promise<void> {
  const ours = createEvm();
  const library = args.includes("--no-library") ? undefined : createEthereumjsEvm();
  const anvil = await startAnvil({
    extraArguments: ["--gas-limit", GAS.toString(), "--hardfork", "prague", "--no-mining"],
  });
  try {
    const only = args.find((arg) => !arg.startsWith("--")) ?? "";
    const rows = [];
    const stop = anvil ? await bestOf(() => millisecondsInAnvil(anvil, STOP)) : 0;
    for (const program of PROGRAMS.filter(({ name }) => name.includes(only))) {
      rows.push(await compare(program, ours, library, anvil, stop));
    }
    printTable(rows);
    writeResult("evm", rows);
  } finally {
    await anvil?.stop();
  }
}

async function compare(
  program: Program,
  ours: Evm,
  library: Evm | undefined,
  anvil: Peer | undefined,
  stop: number,
) {
  const oursMs: number[] = [];
  const anvilMs: number[] = [];
  let gas = 0n;
  for (let turn = 0; turn < TURNS; turn++) {
    const result = millisecondsIn(ours, program);
    oursMs.push(result.ms);
    gas = result.gas;
    if (anvil) anvilMs.push((await millisecondsInAnvil(anvil, program)) - stop);
  }
  const libraryResult = library ? millisecondsIn(library, program) : undefined;
  if (libraryResult && libraryResult.gas !== gas) throw new Error(`${program.name}: gas differs`);
  const mine = Math.min(...oursMs);
  return {
    program: program.name,
    gas: gas.toString(),
    "ours ms": mine,
    "Mgas/s": Number(gas) / mine / 1000,
    "first ms": oursMs[0]!,
    "anvil ms": anvil ? Math.min(...anvilMs) : "-",
    "anvil / ours": anvil ? Math.min(...anvilMs) / mine : "-",
    "ethereumjs / ours": libraryResult ? libraryResult.ms / mine : "-",
  };
}

function millisecondsIn(evm: Evm, { code, data, name }: Program): { ms: number; gas: bigint } {
  const state = createWorldState(createMemoryState());
  state.setAccount(CALLER, { nonce: 1n, balance: 0n, codeHash: state.putCode(new Uint8Array()) });
  state.setAccount(CONTRACT, { nonce: 1n, balance: 0n, codeHash: state.putCode(code) });
  const start = performance.now();
  const { outcome, gasLeft } = evm.execute(
    {
      to: CONTRACT,
      caller: CALLER,
      origin: CALLER,
      value: 0n,
      data,
      gas: GAS,
      gasPrice: 0n,
      blobVersionedHashes: [],
      warmAddresses: [],
      warmSlots: [],
    },
    block,
    state,
  );
  const ms = performance.now() - start;
  if (outcome !== "success") throw new Error(`${name}: ${outcome}`);
  return { ms, gas: GAS - gasLeft };
}

async function millisecondsInAnvil(anvil: Peer, { code, data }: Program): Promise<number> {
  await call(anvil.port, "anvil_setCode", [CONTRACT, bytesToHex(code)]);
  const start = performance.now();
  await call(anvil.port, "eth_call", [
    { from: CALLER, to: CONTRACT, data: bytesToHex(data), gas: `0x${GAS.toString(16)}` },
    "latest",
  ]);
  return performance.now() - start;
}

async function bestOf(measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < 15; turn++) times.push(await measure());
  return Math.min(...times);
}
