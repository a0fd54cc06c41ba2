/** The check of a data file whose rows are in memory: its head, and rows that changed on the medium. */
import { existsSync, readFileSync } from "node:fs";
import { currentProcess } from "../kernel/current.ts";
import { isWholeHead, MappedRows } from "./lmdb-kv.ts";

export function findLmdbFault(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const node = currentProcess().disk.find(path);
  if (node?.kind !== "file" || !(node.mapped instanceof MappedRows)) return "no rows";
  if (!isWholeHead(readFileSync(path) as Buffer)) return "its head is damaged";
  return node.mapped.rotten.size > 0 ? "a row is damaged" : undefined;
}
