import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { median } from "../support/load.ts";
import { type Peer, startAnvil, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";

const ROUNDS = 7;
/** After the warm-up and the first collections of garbage. */
const IDLE_MS = 3_000;

type Measured = Peer["firstAnswer"] & { readonly residentMegabytes: number };

/**
 * Start of the process to its first answer, and resident memory when it has been idle. CPU time is the figure a busy machine does not
 * change. The nodes of a round start one after the other and are idle together.
 */
export async function run(): Promise<void> {
  const homes = [0, 1].map(() => mkdtempSync(join(tmpdir(), "evmint-start-")));
  const [home, homeWithoutWorkers] = homes as [string, string];
  const starts: Readonly<Record<string, () => Promise<Peer | undefined>>> = {
    "evmint, new home": () => startEvmint(),
    "evmint, restart": () => startEvmint({ home }),
    "evmint, restart, workers 0": () =>
      startEvmint({ home: homeWithoutWorkers, extraArguments: ["--json-rpc.workers", "0"] }),
    anvil: startAnvil,
  };
  try {
    for (const each of homes) await (await startEvmint({ home: each })).stop();
    const measured = new Map<string, Measured[]>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, result] of await measureRound(starts)) {
        measured.set(name, [...(measured.get(name) ?? []), result]);
      }
    }
    const rows = [...measured].map(([name, results]) => {
      const of = (key: keyof Measured) => results.map((each) => each[key]);
      return {
        start: name,
        "first answer ms p50": median(of("wallMs")),
        max: Math.max(...of("wallMs")),
        "CPU ms": median(of("cpuMs")),
        "resident MB": median(of("residentMegabytes")),
      };
    });
    printTable(rows);
    writeResult("start", rows);
  } finally {
    for (const each of homes) rmSync(each, { recursive: true, force: true });
  }
}

async function measureRound(
  starts: Readonly<Record<string, () => Promise<Peer | undefined>>>,
): Promise<readonly (readonly [name: string, result: Measured])[]> {
  const peers: [string, Peer][] = [];
  try {
    for (const [name, start] of Object.entries(starts)) {
      const peer = await start();
      if (peer) peers.push([name, peer]);
    }
    await setTimeout(IDLE_MS);
    return peers.map(([name, peer]) => {
      const residentMegabytes = peer.residentBytes() / 1e6;
      return [name, { ...peer.firstAnswer, residentMegabytes }] as const;
    });
  } finally {
    for (const [, peer] of peers) await peer.stop();
  }
}
