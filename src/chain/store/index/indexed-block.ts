import type { ChangeRows } from "../../records/changes-record.ts";
import type { IndexedParts } from "../../records/indexed-block.ts";

/** One block as the index takes it. */
export type IndexedBlock = {
  readonly executed: IndexedParts;
  readonly rows: ChangeRows;
  /** of its record in the log */
  readonly position: number;
  /** log position after its record */
  readonly end: number;
};

/** Block 0 in the log. */
export type GenesisRecord = Omit<IndexedBlock, "rows"> & {
  /** of the bytes of its state in the record */
  readonly offset: number;
};
