import type { Address } from "../../primitives/address.ts";
import type { Receipt } from "../../types/receipt.ts";
import type { Transaction } from "../../types/transaction/transaction.ts";

/** A transaction of a block with its receipt. */
export type RecordItem = {
  readonly transaction: Transaction;
  readonly sender: Address;
  readonly receipt: Receipt;
  /** index in the block of its first log */
  readonly firstLogIndex: number;
};
