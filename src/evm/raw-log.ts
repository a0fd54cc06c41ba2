import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Log } from "../types/receipt.ts";

const DIGITS_OF_TOPIC = 64;

/** A log as its frame emitted it, which may still be taken back. */
export class RawLog {
  readonly address: Address;
  /** All topics, 64 hexadecimal digits each */
  readonly topicDigits: string;
  readonly data: Uint8Array;

  constructor(address: Address, topicDigits: string, data: Uint8Array) {
    this.address = address;
    this.topicDigits = topicDigits;
    this.data = data;
  }

  toLog(): Log {
    const topics: Hash[] = [];
    for (let at = 0; at < this.topicDigits.length; at += DIGITS_OF_TOPIC) {
      topics.push(`0x${this.topicDigits.slice(at, at + DIGITS_OF_TOPIC)}` as Hash);
    }
    return { address: this.address, topics, data: this.data };
  }
}
