import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../../node/config/config.ts";
import { dataPath } from "../../node/config/home.ts";
import { diskUsageOf } from "../../node/observe/disk-usage.ts";
import { segmentBase } from "../../store/storage/log/log-segment.ts";
import { type Finding, findingsOf } from "./finding.ts";
import type { System } from "./system.ts";

/** A file of the block log, and when its last block was appended. */
export type Segment = { readonly bytes: number; readonly writtenMs: number };

const DAY_MS = 86_400_000;
/** Load changes from day to day, less so from week to week. */
const WINDOW_MS = 7 * DAY_MS;
/** Less than this says nothing of a day. */
const SPAN_MS_MIN = 3_600_000;
/** Ordering and moving to a larger disk takes weeks. */
const DAYS_COMFORTABLE = 30;
/** Parts that grow with each block. */
const GROWING_PARTS = ["log", "index", "CometBFT blocks", "CometBFT state"] as const;

/**
 * Bytes that the block log grows a day, over the newest week of `segments`, oldest first; undefined while there is too little to say.
 * @param beganMs time of its first block, where that is known: a log that is younger than a week is measured from there
 */
export function logGrowth(
  segments: readonly Segment[],
  beganMs: number | undefined,
  nowMs: number,
): number | undefined {
  const before = segments.findLastIndex(({ writtenMs }) => writtenMs < nowMs - WINDOW_MS);
  const first = before === -1 && beganMs === undefined ? 0 : before;
  const sinceMs = segments[first]?.writtenMs ?? beganMs;
  if (sinceMs === undefined || nowMs - sinceMs < SPAN_MS_MIN) return undefined;
  const bytes = segments.slice(first + 1).reduce((sum, segment) => sum + segment.bytes, 0);
  return (bytes * DAY_MS) / (nowMs - sinceMs);
}

/** Disk usage of a home, its growth per day, and the time until the disk is full. */
export async function growthFindings(
  { home, chain, index }: Pick<Config, "home" | "chain" | "index">,
  { fileSystem }: Pick<System, "fileSystem">,
  { nowMs, beganMs }: { readonly nowMs: number; readonly beganMs: number | undefined },
): Promise<Finding[]> {
  const segments = segmentsIn(join(dataPath(home), "log"));
  if (segments.length === 0) return [];
  const parts = new Map<string, number>(Object.entries(await diskUsageOf(home)));
  const sizes = [...parts].filter(([, bytes]) => bytes > 0).map(([part, bytes]) => `${part} ${sizeText(bytes)}`);
  const growth = logGrowth(segments, beganMs, nowMs);
  const logBytes = parts.get("log") ?? 0;
  const { ok, warning } = findingsOf("growth");
  const daysOf = (folder: string, bytes: number) => (bytes <= 0 ? Infinity : fileSystem(folder).freeBytes / bytes);
  const text = sizes.join(", ");
  if (growth === undefined || logBytes === 0) return [ok(`${text}; too new to estimate its growth`)];
  const growing = GROWING_PARTS.reduce((sum, part) => sum + (parts.get(part) ?? 0), 0);
  const perDay = (growth * growing) / logBytes;
  const pace = `${text}; ${sizeText(perDay)} a day`;
  // Then as much is removed.
  if (chain.retainBlocks !== null) return [ok(`${pace}, bounded by chain.retain-blocks`)];
  const indexPerDay = index.path === "" ? 0 : (growth * (parts.get("index") ?? 0)) / logBytes;
  const days = Math.min(
    daysOf(home, perDay - indexPerDay),
    index.path === "" ? Infinity : daysOf(resolve(home, index.path), indexPerDay),
  );
  if (days > DAYS_MAX) return [ok(`${pace}, space for years`)];
  const space = `${pace}, space for ${Math.floor(days)} days`;
  if (days >= DAYS_COMFORTABLE) return [ok(space)];
  return [warning(`${space}: move the home to a larger disk, or set chain.retain-blocks`)];
}

/** Farther away nothing is known of the load. */
const DAYS_MAX = 3_650;

function segmentsIn(directory: string): Segment[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => segmentBase(name) !== undefined);
  return names.sort().flatMap((name) => {
    // Retention may remove it meanwhile.
    const found = statSync(join(directory, name), { throwIfNoEntry: false });
    return found === undefined ? [] : [{ bytes: found.size, writtenMs: found.mtimeMs }];
  });
}

function sizeText(bytes: number): string {
  const units = ["KiB", "MiB", "GiB", "TiB"] as const;
  let value = bytes / 1024;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}
