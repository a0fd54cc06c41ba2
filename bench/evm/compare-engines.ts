/** Programs on our engine, on anvil's and geth's through eth_call, and on @ethereumjs/evm, in turns in one run. */
import { createEvm } from "../../src/evm/engine.ts";
import type { Evm } from "../../src/evm/evm.ts";
import { createEthereumjsEvm } from "../../test/oracle/ethereumjs/evm.ts";
import { geometricMean, median } from "../support/load.ts";
import { type Peer, startAnvil, startGeth } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";
import { GAS, timeOnEngine, timeOnPeer } from "./engines.ts";
import { PROGRAMS, type Program, STOP } from "./programs.ts";

const TURNS = 15;
/** Of @ethereumjs/evm, which takes hundreds of milliseconds. */
const LIBRARY_TURNS = 3;

type Engines = {
  readonly ours: Evm;
  readonly library: Evm;
  readonly anvil: Peer | undefined;
  readonly geth: Peer | undefined;
};

export async function run(): Promise<void> {
  const anvil = await startAnvil({
    extraArguments: ["--gas-limit", GAS.toString(), "--hardfork", "prague", "--no-mining"],
  });
  const geth = await startGeth();
  try {
    const engines = { ours: createEvm(), library: createEthereumjsEvm(), anvil, geth };
    const rows = [];
    for (const program of PROGRAMS) rows.push(await compare(program, engines));
    console.log("medians of calls in turns; anvil's and geth's without the time of a call to STOP");
    printTable(rows);
    const summary = {
      "anvil / ours": summaryOf(rows.map((row) => row["anvil / ours"])),
      "geth / ours": summaryOf(rows.map((row) => row["geth / ours"])),
      "ethereumjs / ours": summaryOf(rows.map((row) => row["ethereumjs / ours"])),
    };
    console.log();
    printTable(Object.entries(summary).map(([ratio, figures]) => ({ ratio, ...figures })));
    writeResult("evm", rows, { summary });
  } finally {
    await anvil?.stop();
    await geth?.stop();
  }
}

async function compare(program: Program, { ours, library, anvil, geth }: Engines) {
  const oursMs: number[] = [];
  const anvilMs: number[] = [];
  const gethMs: number[] = [];
  const libraryNsPerGas: number[] = [];
  const lighter = program.light ?? program;
  let gas = 0n;
  let libraryGas = 0n;
  for (let turn = 0; turn < TURNS; turn++) {
    const result = timeOnEngine(ours, program);
    oursMs.push(result.ms);
    gas = result.gas;
    if (anvil) anvilMs.push((await timeOnPeer(anvil, program)) - (await timeOnPeer(anvil, STOP)));
    if (geth) gethMs.push((await timeOnPeer(geth, program)) - (await timeOnPeer(geth, STOP)));
    if (turn >= LIBRARY_TURNS) continue;
    const other = timeOnEngine(library, lighter);
    libraryGas = other.gas;
    libraryNsPerGas.push((other.ms * 1e6) / Number(other.gas));
  }
  if (libraryGas !== timeOnEngine(ours, lighter).gas) {
    throw new Error(`${program.name}: gas differs`);
  }
  const mine = median(oursMs);
  const ratio = (times: readonly number[]) => (times.length > 0 ? median(times) / mine : "-");
  return {
    program: program.name,
    gas: gas.toString(),
    "ours ms": mine,
    "ours Mgas/s": Number(gas) / mine / 1000,
    "anvil ms": anvil ? median(anvilMs) : "-",
    "anvil / ours": ratio(anvilMs),
    "geth / ours": ratio(gethMs),
    "ethereumjs gas": libraryGas.toString(),
    "ethereumjs ns/gas": median(libraryNsPerGas),
    "ethereumjs / ours": median(libraryNsPerGas) / ((mine * 1e6) / Number(gas)),
  };
}

function summaryOf(ratios: readonly (number | string)[]) {
  const numbers = ratios.filter((ratio) => typeof ratio === "number");
  if (numbers.length === 0) return { "geometric mean": "-", lowest: "-" };
  return { "geometric mean": geometricMean(numbers), lowest: Math.min(...numbers) };
}
