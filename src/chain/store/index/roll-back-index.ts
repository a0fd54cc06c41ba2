import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import type { Kv, KvWriter } from "../../../store/storage/kv.ts";
import type { NodeBatch } from "../../../store/trie/node-batch.ts";
import type { ChangeRow } from "../../records/changes-record.ts";
import type { IndexedBlock } from "../../records/indexed-block.ts";
import type { NodeHistory } from "../nodes/node-history.ts";
import { type Applied, type BlockRows, writeApplied } from "./block-rows.ts";
import type { IndexMerge, MergedTables } from "./index-merge.ts";

const ADDRESS_LENGTH = 20;

export type RollbackModules = MergedTables & {
  readonly blocks: BlockRows;
  readonly merge: IndexMerge;
};

/**
 * Makes `last` the last block of the index; `removed` are all blocks after it. Changes memory first, then rows in one transaction, which
 * may run twice. After an exception the index must be opened again.
 * @param nodesBack returns the nodes that lead from the last block's state back to that of `last`. Called if rows or the running merge
 * have nodes of the removed blocks, or memory has no others.
 */
export function rollBackIndex(
  kv: Kv,
  modules: RollbackModules,
  last: Applied,
  removed: readonly IndexedBlock[],
  nodesBack: () => NodeBatch,
): void {
  const { blocks, merge, accounts, slots, nodeHistory, trieNodes, logs } = modules;
  const { number } = last;
  const head = number + removed.length;
  if (merge.isMergingAfter(number)) merge.all(head);
  const { mergedBlocks } = merge;
  // Data that no merge has written is dropped only from memory.
  const isMerged = number + 1 < mergedBlocks;
  const nodes = isMerged || !trieNodes.canForget ? nodesBack() : undefined;
  nodeHistory.forgetAfter(number);
  if (nodes === undefined) {
    trieNodes.forgetAfter(number);
  } else {
    trieNodes.remember(head, nodes);
    if (isMerged) trieNodes.beginMerge(merge.number);
  }
  const removeVersions = [
    accounts.rollback(
      number,
      distinctKeys(removed, ({ rows }) => rows.accounts),
    ),
    slots.rollback(
      number,
      distinctKeys(removed, ({ rows }) => rows.slots),
    ),
    logs.rollback(
      number,
      removed.map(({ executed }) => executed),
    ),
  ];
  kv.transaction((writer) => {
    // In one transaction with all else: half of it would be rows of neither state.
    if (isMerged) trieNodes.mergeRest(writer);
    for (const block of removed) {
      blocks.removeNewest(writer, block.executed);
      if (block.executed.block.header.number < mergedBlocks) {
        removeNodeVersions(writer, nodeHistory, block);
      }
    }
    for (const remove of removeVersions) remove(writer);
    writeApplied(writer, last);
    if (isMerged) merge.writeCheckpoint(writer, number + 1);
  });
  if (isMerged) merge.checkpointWritten(number + 1);
}

function distinctKeys(
  blocks: readonly IndexedBlock[],
  rowsOf: (block: IndexedBlock) => readonly ChangeRow[],
): readonly Uint8Array[] {
  const keys = new Map<string, Uint8Array>();
  for (const block of blocks) {
    for (const { key } of rowsOf(block)) keys.set(bytesToHex(key), key);
  }
  return Array.from(keys.values());
}

/** Removes the versions of trie nodes that a merge wrote of a block. */
function removeNodeVersions(writer: KvWriter, nodeHistory: NodeHistory, { executed, rows }: IndexedBlock): void {
  const { number } = executed.block.header;
  for (const { key } of rows.accounts) {
    nodeHistory.removeVersions(writer, EMPTY_BYTES, keccak256(key), number);
  }
  for (const { key } of rows.slots) {
    const owner = keccak256(key.subarray(0, ADDRESS_LENGTH));
    nodeHistory.removeVersions(writer, EMPTY_BYTES, owner, number);
    nodeHistory.removeVersions(writer, owner, keccak256(key.subarray(ADDRESS_LENGTH)), number);
  }
}
