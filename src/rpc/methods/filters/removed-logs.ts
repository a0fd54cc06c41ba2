import type { ExecutedBlock } from "../../../base/types/block.ts";
import { BlockLogs, encodeBlockLogs } from "../../../chain/logs/block-logs.ts";
import type { LogFilter } from "../../../chain/logs/log-filter.ts";
import type { LogListWriter } from "../json/log-list.ts";

/** Bytes of logs stored for filters that have not been polled since. */
const BYTES_MAX = 16 << 20;

type Rollback = {
  /** Number of the first removed block. */
  readonly first: number;
  /** Emptied, oldest first, when they are too many. */
  rows: readonly { readonly number: number; readonly row: Uint8Array }[];
};

/** Logs of blocks that are no longer part of the chain, rollback by rollback. */
export class RemovedLogs {
  readonly #rollbacks: Rollback[] = [];
  #start = 0;
  #bytes = 0;

  /** Number that the next rollback gets. */
  get end(): number {
    return this.#start + this.#rollbacks.length;
  }

  add(removed: readonly ExecutedBlock[]): void {
    const first = removed[0]?.block.header.number;
    if (first === undefined) return;
    const rows = removed.flatMap((executed) => {
      const row = encodeBlockLogs(executed);
      return row === undefined ? [] : [{ number: executed.block.header.number, row }];
    });
    this.#rollbacks.push({ first, rows });
    this.#bytes += sizeOf(rows);
    for (const rollback of this.#rollbacks) {
      if (this.#bytes <= BYTES_MAX) break;
      this.#bytes -= sizeOf(rollback.rows);
      rollback.rows = [];
    }
  }

  /** The first block that a reader who has seen those before `next` has still to see. */
  unseenFrom(from: number, next: number): number {
    return this.#since(from).reduce((unseen, { first }) => Math.min(unseen, first), next);
  }

  /**
   * Adds to `list` what `filter` matches in the blocks before `next` that went since rollback number `from`.
   */
  addTo(list: LogListWriter, filter: LogFilter, from: number, next: number): void {
    let unseen = next;
    for (const { first, rows } of this.#since(from)) {
      for (const { number, row } of rows) {
        if (number < unseen) list.addMatching(new BlockLogs(number, row), filter, true);
      }
      unseen = Math.min(unseen, first);
    }
  }

  clear(): void {
    this.#start = this.end;
    this.#rollbacks.length = 0;
    this.#bytes = 0;
  }

  #since(from: number): readonly Rollback[] {
    return this.#rollbacks.slice(from - this.#start);
  }
}

function sizeOf(rows: Rollback["rows"]): number {
  return rows.reduce((sum, { row }) => sum + row.length, 0);
}
