import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { bytesToHex } from "../primitives/hex.ts";
import type { Log } from "../types/receipt.ts";
import { WORD } from "./layout.ts";

/** A log as the frame emitted it. Most are taken back or never looked at, so the topics' text is made when asked for. */
export class RawLog {
  readonly address: Address;
  /** Words, lowest byte first */
  readonly topics: Uint8Array;
  readonly data: Uint8Array;

  constructor(address: Address, topics: Uint8Array, data: Uint8Array) {
    this.address = address;
    this.topics = topics;
    this.data = data;
  }

  toLog(): Log {
    const topics: Hash[] = [];
    for (let at = 0; at < this.topics.length; at += WORD) {
      topics.push(bytesToHex(this.topics.slice(at, at + WORD).reverse()) as Hash);
    }
    return { address: this.address, topics, data: this.data };
  }
}
