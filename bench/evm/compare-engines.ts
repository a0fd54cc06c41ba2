/** Programs on our engine, on anvil's and geth's through eth_call, and on @ethereumjs/evm, in turns in one run. */
import { createEvm } from "../../src/evm/machine/engine.ts";
import type { Evm } from "../../src/evm/machine/evm.ts";
import { createEthereumjsEvm } from "../../test/oracle/ethereumjs/evm.ts";
import { compileAtOnce } from "../../test/support/evm/machine/compile-at-once.ts";
import { geometricMean, median } from "../support/load.ts";
import { type Peer, startAnvil, startGeth } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";
import { GAS, timeOnEngine, timeOnPeer } from "./engines.ts";
import { deployExchange, exchangePrograms } from "./exchange.ts";
import { PROGRAMS, type Program, STOP } from "./programs.ts";

const TURNS = 15;
/** Short programs take more turns: the CPU time of another process is reported in hundredths of a second. */
const TURNS_MAX = 60;
const PEER_MS = 400;
/** Of @ethereumjs/evm, which takes hundreds of milliseconds. */
const LIBRARY_TURNS = 3;
const STOP_CALLS = 300;

type Engines = {
  readonly ours: Evm;
  /** Ours with every contract compiled */
  readonly compiled: Evm;
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
    const engines = {
      ours: createEvm(),
      compiled: createEvm({ tier: compileAtOnce({ isOptimised: true }) }),
      library: createEthereumjsEvm(),
      anvil,
      geth,
    };
    const rows = [];
    const programs = [...PROGRAMS, ...exchangePrograms(deployExchange())];
    for (const program of programs) rows.push(await compare(program, engines));
    console.log("medians of calls in turns, CPU time the mean; anvil's and geth's without that of a call to STOP");
    printTable(rows);
    const summary = {
      "anvil / ours": summaryOf(rows.map((row) => row["anvil / ours"])),
      "anvil / ours, CPU": summaryOf(rows.map((row) => row["anvil / ours, CPU"])),
      "geth / ours": summaryOf(rows.map((row) => row["geth / ours"])),
      "ours / compiled, CPU": summaryOf(rows.map((row) => row["ours / compiled, CPU"])),
      "anvil / compiled": summaryOf(rows.map((row) => row["anvil / compiled"])),
      "anvil / compiled, CPU": summaryOf(rows.map((row) => row["anvil / compiled, CPU"])),
      "geth / compiled": summaryOf(rows.map((row) => row["geth / compiled"])),
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

/** Milliseconds of a call, by the clock and by the CPU time of the process. */
type Cost = { readonly ms: number; readonly cpuMs: number };

async function compare(program: Program, { ours, compiled, library, anvil, geth }: Engines) {
  const { gas, ms: firstMs } = timeOnEngine(ours, program);
  const turns = Math.max(TURNS, Math.min(TURNS_MAX, Math.ceil(PEER_MS / firstMs)));
  const lighter = program.light ?? program;
  const mine: Cost[] = [];
  const compiledCosts: Cost[] = [];
  if (timeOnEngine(compiled, program).gas !== gas) throw new Error(`${program.name}: gas differs`);
  const libraryNsPerGas: number[] = [];
  const peers = [anvil, geth].map((peer) => peer && startMeasuring(peer, program));
  for (let turn = 0; turn < turns; turn++) {
    mine.push(timeOnEngine(ours, program));
    compiledCosts.push(timeOnEngine(compiled, program));
    for (const measured of peers) await measured?.call(program);
    if (turn >= LIBRARY_TURNS) continue;
    const other = timeOnEngine(library, lighter);
    libraryNsPerGas.push((other.ms * 1e6) / Number(other.gas));
  }
  const [theirs, geths] = await Promise.all(peers.map((measured) => measured?.end()));
  const libraryGas = timeOnEngine(library, lighter).gas;
  if (libraryGas !== timeOnEngine(ours, lighter).gas) {
    throw new Error(`${program.name}: gas differs`);
  }
  const ms = median(mine.map((cost) => cost.ms));
  const cpuMs = median(mine.map((cost) => cost.cpuMs));
  const compiledMs = median(compiledCosts.map((cost) => cost.ms));
  const compiledCpuMs = median(compiledCosts.map((cost) => cost.cpuMs));
  return {
    program: program.name,
    gas: gas.toString(),
    "ours ms": ms,
    "ours Mgas/s": Number(gas) / ms / 1000,
    "anvil ms": theirs?.ms ?? "-",
    "anvil / ours": theirs ? theirs.ms / ms : "-",
    "anvil / ours, CPU": theirs ? theirs.cpuMs / cpuMs : "-",
    "geth / ours": geths ? geths.ms / ms : "-",
    "compiled ms": compiledMs,
    "ours / compiled, CPU": cpuMs / compiledCpuMs,
    "anvil / compiled": theirs ? theirs.ms / compiledMs : "-",
    "anvil / compiled, CPU": theirs ? theirs.cpuMs / compiledCpuMs : "-",
    "geth / compiled": geths ? geths.ms / compiledMs : "-",
    "ethereumjs gas": libraryGas.toString(),
    "ethereumjs ns/gas": median(libraryNsPerGas),
    "ethereumjs / ours": median(libraryNsPerGas) / ((ms * 1e6) / Number(gas)),
  };
}

/** Measures calls to `peer` from now to `end`, which answers what one costs beyond a call to STOP. */
function startMeasuring(peer: Peer, { accounts }: Program) {
  // The same accounts go with it: to an address that has no code.
  const stop = accounts ? { ...STOP, accounts } : STOP;
  const times: number[] = [];
  const cpuBefore = peer.cpuSeconds();
  return {
    async call(program: Program): Promise<void> {
      times.push(await timeOnPeer(peer, program));
    },
    async end(): Promise<Cost> {
      const cpuBetween = peer.cpuSeconds();
      const stopTimes: number[] = [];
      for (let i = 0; i < STOP_CALLS; i++) stopTimes.push(await timeOnPeer(peer, stop));
      const stopCpuMs = ((peer.cpuSeconds() - cpuBetween) * 1000) / STOP_CALLS;
      return {
        ms: median(times) - median(stopTimes),
        cpuMs: ((cpuBetween - cpuBefore) * 1000) / times.length - stopCpuMs,
      };
    },
  };
}

function summaryOf(ratios: readonly (number | string)[]) {
  const numbers = ratios.filter((ratio) => typeof ratio === "number");
  if (numbers.length === 0) return { "geometric mean": "-", lowest: "-" };
  return { "geometric mean": geometricMean(numbers), lowest: Math.min(...numbers) };
}
