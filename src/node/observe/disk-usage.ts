import { existsSync, statfsSync } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Metrics } from "../../base/telemetry/metrics.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";

/** Sizes change with blocks, and a store of CometBFT has thousands of files. */
const INTERVAL_MS = 60_000;

/** Paths below the home, by part. */
const PARTS = {
  log: "data/log",
  index: "data/index",
  pool: "data/pool",
  snapshots: "data/snapshots",
  cache: "cache",
  "CometBFT blocks": "cometbft/data/blockstore.db",
  "CometBFT state": "cometbft/data/state.db",
  "CometBFT journal": "cometbft/data/cs.wal",
} as const;

type DiskUsageModules = { readonly metrics: Pick<Metrics, "gauge">; readonly timers: Pick<Timers, "soon" | "every"> };

/** Measures the disk usage of a home's parts and the free space once a minute. */
export class DiskUsage {
  readonly #timer: Timer;

  /** @param home an existing folder */
  constructor(home: string, { metrics, timers }: DiskUsageModules) {
    const used = metrics.gauge({
      name: "disk_bytes",
      help: "Disk space used by the home, by part.",
      labels: ["part"],
    });
    const free = metrics.gauge({
      name: "disk_free_bytes",
      help: "Free space on the disk of the home or on that of its index, whichever is less.",
    });
    const measure = async () => {
      for (const [part, bytes] of Object.entries(await diskUsageOf(home))) used.set(bytes, { part });
      const places = [home, join(home, PARTS.index)].filter((path) => existsSync(path));
      free.set(Math.min(...places.map(freeBytesOf)));
    };
    timers.soon("disk usage", measure);
    this.#timer = timers.every(INTERVAL_MS, "disk usage", measure);
  }

  close(): void {
    this.#timer.cancel();
  }
}

function freeBytesOf(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Bytes on disk of each part of a home. */
export async function diskUsageOf(home: string): Promise<Readonly<Record<keyof typeof PARTS, number>>> {
  const sizes: [string, number][] = [];
  for (const [part, path] of Object.entries(PARTS)) sizes.push([part, await sizeOf(join(home, path), stat)]);
  return Object.fromEntries(sizes) as Record<keyof typeof PARTS, number>;
}

/**
 * Bytes on disk of a file or folder; files removed meanwhile count as 0.
 * @param statOf follows links for a part, which can be on another disk
 */
async function sizeOf(path: string, statOf: typeof stat | typeof lstat = lstat): Promise<number> {
  try {
    const found = await statOf(path);
    if (!found.isDirectory()) return found.blocks * 512;
    let sum = 0;
    for (const name of await readdir(path)) sum += await sizeOf(join(path, name));
    return sum;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
}
