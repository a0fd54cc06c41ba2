import { openLmdbFollower } from "../../../../src/store/storage/lmdb/lmdb-kv.ts";
import { rowKey, VALUE_BYTES } from "./follow-rows-format.ts";

/** A process that follows the index in the given directory: for each number that it receives, it answers how many of the rows before it are right. */
const kv = openLmdbFollower(process.argv[2]!);

process.on("message", (count: number) => {
  kv.refresh();
  let right = 0;
  for (let row = 0; row < count; row++) {
    const value = kv.get(rowKey(row));
    if (value?.length === VALUE_BYTES && value[0] === (row & 0xff)) right++;
  }
  process.send?.(right);
});
