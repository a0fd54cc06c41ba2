import type { Address } from "../../../primitives/address.ts";
import type { Hash } from "../../../primitives/hash.ts";
import type { AccountChange, StateChanges } from "../../../state/reader.ts";
import type { ByteReader } from "../../../storage/byte-io.ts";
import type { Kv } from "../../../storage/kv.ts";
import { LogCorruptionError, type LogReader } from "../../../storage/log-reader.ts";
import { EMPTY_TRIE_ROOT } from "../../../types/constants.ts";
import { decodeBlockRecord } from "../../records/block-record.ts";
import { readChangeRows, readChanges } from "../../records/changes-record.ts";
import type { BlockIndex } from "../index/block-index.ts";
import type { Applied } from "../index/index-rows.ts";
import { type CreateTrie, trieNodesOf } from "../nodes/computed-trie-nodes.ts";
import type { StateFile, StateFiles } from "./state-file.ts";

/**
 * Fills an empty index from a log whose first blocks are gone: with the blocks up to the one of the state file, then with the state in it. What
 * comes after that block is replayed as always. The state is in memory until its root is verified.
 * @throws LogCorruptionError, StateRootMismatchError
 */
export function restoreOldestState(
  file: StateFile,
  {
    files,
    kv,
    log,
    index,
    createTrie,
  }: {
    readonly files: StateFiles;
    readonly kv: Kv;
    readonly log: LogReader;
    readonly index: BlockIndex;
    readonly createTrie: CreateTrie;
  },
): Applied {
  for (const { payload, position, end } of log.records()) {
    const record = decodeBlockRecord(payload);
    const { header, hash } = record.block;
    kv.transaction((writer) => index.blocks.write(writer, record, position));
    index.logs.remember(record);
    while (index.logs.needsMerge()) index.logs.mergeSome();
    if (header.number < file.number) continue;
    if (header.number > file.number || hash !== file.hash) break;
    const changes = wholeState(files.read(file));
    const nodes = trieNodesOf({ ...record, changes }, createTrie(index.trieNodes), EMPTY_TRIE_ROOT);
    for (const part of files.read(file)) {
      const rows = readChangeRows(part);
      kv.transaction((writer) => index.writeOldestValues(writer, header.number, rows));
    }
    const applied = { number: header.number, hash, end };
    kv.transaction((writer) => index.writeOldestState(writer, header.stateRoot, applied));
    index.rememberNodes(header.number, nodes);
    index.merge.all(header.number);
    return applied;
  }
  const reason = `no block ${file.number}, whose state is in a file`;
  throw new LogCorruptionError({ position: log.start, reason });
}

/** The changes of all parts as those of one block. */
function wholeState(parts: Iterable<ByteReader>): StateChanges {
  const accounts = new Map<Address, AccountChange & { readonly storage: Map<Hash, bigint> }>();
  const codes = new Map<Hash, Uint8Array>();
  for (const part of parts) {
    const changes = readChanges(part);
    for (const change of changes.accounts) {
      const storage = accounts.get(change.address)?.storage ?? new Map<Hash, bigint>();
      for (const [slot, value] of change.storage) storage.set(slot, value);
      accounts.set(change.address, { ...change, storage });
    }
    for (const [hash, code] of changes.codes) codes.set(hash, code);
  }
  return { accounts: Array.from(accounts.values()), codes };
}
