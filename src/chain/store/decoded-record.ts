import type { Address } from "../../primitives/address.ts";
import type { StateChanges } from "../../state/reader.ts";
import type { Block } from "../../types/block.ts";
import type { Receipt } from "../../types/receipt.ts";
import { decodeStateChanges, decodeWithoutChanges } from "../records/block-record.ts";
import type { BlockRecord } from "./block-store.ts";

/** A block as it stays decoded. Its changes, which few callers ask for, are most of its objects: they are decoded each time. */
export class DecodedRecord implements BlockRecord {
  readonly block: Block;
  readonly senders: readonly Address[];
  readonly receipts: readonly Receipt[];
  readonly consensusData: Uint8Array;
  readonly #payload: Uint8Array;

  /** @param payload of the record in the log */
  constructor(record: Omit<BlockRecord, "changes">, payload: Uint8Array) {
    this.block = record.block;
    this.senders = record.senders;
    this.receipts = record.receipts;
    this.consensusData = record.consensusData;
    this.#payload = payload;
  }

  /** @throws what `decodeBlockRecord` throws */
  static decode(payload: Uint8Array): DecodedRecord {
    return new DecodedRecord(decodeWithoutChanges(payload), payload);
  }

  get changes(): StateChanges {
    return decodeStateChanges(this.#payload);
  }

  /** Of the record. */
  get length(): number {
    return this.#payload.length;
  }
}
