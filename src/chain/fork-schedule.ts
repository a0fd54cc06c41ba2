import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NodeError } from "../base/errors.ts";
import type { ChainConfig } from "../base/params/chain-config.ts";
import type { Header } from "../base/types/header.ts";
import { ifPresent } from "../store/storage/if-present.ts";
import { replaceFile } from "../store/storage/replace-file.ts";

const FILE = "fork-schedule.json";

type Head = Pick<Header, "number" | "timestamp">;
/** A chain configuration as JSON; bigints are decimal strings. */
type Schedule = Readonly<Record<string, unknown>>;

/** The genesis file changes a rule of blocks already executed, or the stored rules cannot be read. */
export class ForkScheduleError extends NodeError {
  readonly code = "FORK_SCHEDULE_CHANGED";
}

/**
 * Checks that `config` has the rules by which the blocks up to `head` were executed, as geth does, and stores it in `directory`
 * for the next start. Forks after the head may come, go and move.
 * @param agreed fields that the validators agreed on, for which the file counts no more
 * @throws ForkScheduleError
 */
export function checkForkSchedule(
  directory: string,
  config: ChainConfig,
  head: Head,
  agreed: ReadonlySet<string> = new Set(),
): void {
  const path = join(directory, FILE);
  const text = `${JSON.stringify(config, (_, value) => (typeof value === "bigint" ? String(value) : value), 2)}\n`;
  const known = ifPresent(() => readFileSync(path, "utf8"));
  if (known === text) return;
  if (known !== undefined) compare(parse(path, known), JSON.parse(text), head, agreed);
  replaceFile(path, text, 0o600);
}

function parse(path: string, text: string): Schedule {
  try {
    return JSON.parse(text);
  } catch {
    throw new ForkScheduleError(
      `${path} is damaged: compare config/genesis.json with another node's of this chain, then delete the file`,
    );
  }
}

function compare(stored: Schedule, configured: Schedule, head: Head, agreed: ReadonlySet<string>): void {
  for (const name of new Set([...Object.keys(stored), ...Object.keys(configured)])) {
    const values = [stored[name], configured[name]];
    if (agreed.has(name)) continue;
    if (name === "blobSchedule") compareBlobs(stored, configured, head);
    else if (!isSame(values) && values.some((value) => isActive(name, value, head))) {
      throw changed(name, values, head);
    }
  }
}

/** Blob parameters count from the time of their fork on. */
function compareBlobs(stored: Schedule, configured: Schedule, head: Head): void {
  const [before, after] = [stored, configured].map(({ blobSchedule }) => blobSchedule as Schedule);
  for (const fork of new Set([...Object.keys(before!), ...Object.keys(after!)])) {
    const values = [before![fork], after![fork]];
    const time = `${fork}Time`;
    if (!isSame(values) && isActive(time, stored[time], head)) {
      throw changed(`blobSchedule.${fork}`, values, head);
    }
  }
}

/** Whether `value` affected the blocks up to `head`; block 0 depends only on its genesis file. */
function isActive(name: string, value: unknown, { number, timestamp }: Head): boolean {
  if (value === undefined || number === 0) return false;
  if (name.endsWith("Time")) return (value as number) <= timestamp;
  if (name.endsWith("Block")) return (value as number) <= number;
  return true;
}

function isSame([before, after]: readonly unknown[]): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

function changed(name: string, values: readonly unknown[], { number, timestamp }: Head) {
  const [stored, configured] = values.map((value) => JSON.stringify(value) ?? "none");
  return new ForkScheduleError(
    `config/genesis.json has ${name} ${configured}, and the blocks up to ${number} were executed with ${stored}: restore the old value, or roll the chain back first`,
    { name, stored, configured, headNumber: number, headTimestamp: timestamp },
  );
}
