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

type Measured = {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly residentMegabytes: number;
};

/** Start of the process to its first answer, and resident memory when it has been idle. CPU time is the figure a busy machine does not change. */
export async function run(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "evmint-start-"));
  const starts: Readonly<Record<string, () => Promise<Peer | undefined>>> = {
    "evmint, new home": () => startEvmint(),
    "evmint, restart": () => startEvmint({ home }),
    "evmint, restart, workers 0": () =>
      startEvmint({ home, extraArguments: ["--json-rpc.workers", "0"] }),
    anvil: startAnvil,
  };
  try {
    await (await startEvmint({ home })).stop();
    const rows = [];
    for (const [name, start] of Object.entries(starts)) {
      const measured: Measured[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const peer = await start();
        if (peer) measured.push(await measure(peer));
      }
      if (measured.length === 0) continue;
      const of = (key: keyof Measured) => measured.map((each) => each[key]);
      rows.push({
        start: name,
        "first answer ms p50": median(of("wallMs")),
        max: Math.max(...of("wallMs")),
        "CPU ms": median(of("cpuMs")),
        "resident MB": median(of("residentMegabytes")),
      });
    }
    printTable(rows);
    writeResult("start", rows);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function measure(peer: Peer): Promise<Measured> {
  await setTimeout(IDLE_MS);
  const residentMegabytes = peer.residentBytes() / 1e6;
  await peer.stop();
  return { ...peer.firstAnswer, residentMegabytes };
}
