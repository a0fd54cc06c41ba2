import { printTable } from "../../../bench/support/report.ts";
import type { FaultResult, FaultsReport } from "./network-faults.ts";
import { FAULT_KINDS } from "./plan.ts";

type KindRow = {
  readonly fault: string;
  readonly times: number;
  readonly "recovery p50, s": number;
  readonly "p90, s": number;
  readonly "max, s": number;
  readonly "longest without a block, s": number;
};

/** One row for each kind that happened, and one for all. */
export function kindRows(faults: readonly FaultResult[]): readonly KindRow[] {
  const kinds = FAULT_KINDS.map((kind) => [kind, faults.filter((fault) => fault.kind === kind)] as const);
  return [...kinds, ["all", faults] as const].flatMap(([fault, of]) => (of.length === 0 ? [] : [rowOf(fault, of)]));
}

function rowOf(fault: string, of: readonly FaultResult[]): KindRow {
  const times = of.map(({ recoveryMs }) => recoveryMs).sort((a, b) => a - b);
  const at = (share: number) => seconds(times[Math.ceil(share * times.length) - 1]!);
  return {
    fault,
    times: of.length,
    "recovery p50, s": at(0.5),
    "p90, s": at(0.9),
    "max, s": at(1),
    "longest without a block, s": seconds(Math.max(...of.map(({ gapMs }) => gapMs))),
  };
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 100) / 10;

/** What is written beside the rows. */
export function summaryOf({ samples, chain, seconds: duration, failures }: FaultsReport) {
  return {
    seconds: duration,
    blocks: chain.blocks,
    longestBlockIntervalSeconds: seconds(chain.longestIntervalMs),
    acknowledged: chain.acknowledged,
    lost: chain.lost.length,
    doubleSigns: chain.doubleSigns.length,
    differentBlocks: chain.different.length,
    samples: samples.begun,
    samplesReady: samples.ready,
    samplesNotReady: samples.notReady,
    samplesNotReadyOfHealthyNodes: samples.healthyNotReady,
    reasonsOfHealthyNodes: JSON.stringify(samples.reasons),
    samplesUnanswered: samples.unanswered,
    samplesReadyButBehind: samples.late,
    longestStandstillOfSamplerSeconds: seconds(samples.longestStandstillMs),
    failures,
  };
}

export function printReport(report: FaultsReport): void {
  printTable(kindRows(report.faults));
  const { failures, ...summary } = summaryOf(report);
  console.log();
  printTable(Object.entries(summary).map(([figure, value]) => ({ figure, value: String(value) })));
  for (const failure of failures) console.log(`FAILED ${failure}`);
}
