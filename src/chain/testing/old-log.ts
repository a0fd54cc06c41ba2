import { join } from "node:path";
import type { Address } from "../../primitives/address.ts";
import { openBlockLog } from "../../storage/block-log.ts";
import { openLogDirectory } from "../../storage/log-file.ts";
import { encodeBlockRecordV1 } from "./encode-record-v1.ts";
import { type RandomBlock, RandomChain } from "./random-chain.ts";

const NONE: ReadonlySet<Address> = new Set();

/** Writes a block log as the program of log format 1 left it into `directory`; its blocks. */
export function writeOldLog(directory: string, count: number): readonly RandomBlock[] {
  const chain = new RandomChain(31, { transactionsMax: 6 });
  const blocks = Array.from({ length: count }, () => chain.next());
  const log = openBlockLog({
    directory: openLogDirectory(join(directory, "log")),
    format: 1,
    segmentBytesMax: 10_000,
  });
  for (const { record } of blocks) log.appendUnsynced(encodeBlockRecordV1(record, NONE));
  log.sync();
  log.close();
  return blocks;
}
