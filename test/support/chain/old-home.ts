import { join } from "node:path";
import type { Address } from "../../../src/base/primitives/address.ts";
import { metaKey, varints, writeApplied } from "../../../src/chain/store/index/block-rows.ts";
import { IndexFiles } from "../../../src/chain/store/index/index-files.ts";
import { openLmdbKv } from "../../../src/store/storage/lmdb/lmdb-kv.ts";
import { openBlockLog } from "../../../src/store/storage/log/block-log.ts";
import { openLogDirectory } from "../../../src/store/storage/log/log-file.ts";
import { META } from "../../../src/store/storage/schema.ts";
import { encodeBlockRecordV1 } from "./encode-record-v1.ts";
import { type RandomBlock, RandomChain } from "./random-chain.ts";

const NONE: ReadonlySet<Address> = new Set();

/**
 * Writes the next `count` blocks of `chain` into `directory` as the program of log format 1 left them: a log, and an index that says it
 * has all of them.
 */
export function writeOldHome(
  directory: string,
  count: number,
  chain = new RandomChain(31, { transactionsMax: 6, amsterdam: Number.POSITIVE_INFINITY }),
): readonly RandomBlock[] {
  const blocks = Array.from({ length: count }, () => chain.next());
  const log = openBlockLog({
    directory: openLogDirectory(join(directory, "log")),
    format: 1,
    segmentBytesMax: 10_000,
  });
  for (const { record } of blocks) log.appendUnsynced(encodeBlockRecordV1(record, NONE));
  log.sync();
  writeOldIndex(directory, blocks.at(-1)!, log.end);
  log.close();
  return blocks;
}

function writeOldIndex(directory: string, { record }: RandomBlock, end: number): void {
  const files = new IndexFiles(directory);
  const index = openLmdbKv(files.folder);
  const { hash, header } = record.block;
  index.transaction((writer) => {
    writer.put(metaKey(META.format), varints(1));
    writeApplied(writer, { number: header.number, hash, end });
  });
  index.close();
  files.closed();
}
